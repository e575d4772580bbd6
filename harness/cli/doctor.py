# SPDX-License-Identifier: BSD-3-Clause
"""`run.py doctor`: every dependency, found or missing, its version and how to get it."""

import argparse
import os
import platform
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from rich.markup import escape

from common import settings
from common.columns import tell
from common.outcome import Failure
from common.paths import REPOSITORY, cache_root, settings_file
from common.terminal import console, plain_table
from harness.build import host_packages
from harness.run.engines import gem5_binary
from harness.spec import kernel as kernels


@dataclass(frozen=True)
class Row:
    """One dependency."""

    name: str
    use: str
    found: str
    """Version or place; empty if it is missing."""
    get: str
    """How to get it."""
    optional: bool = False


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = "Exit status 0 if nothing but optional dependencies is missing, else 1."


def main(arguments: argparse.Namespace) -> int:
    del arguments
    rows = list(survey())
    table = plain_table("dependency", "found", "for; how to get it", title="Dependencies")
    table.columns[0].no_wrap = True
    for row in rows:
        state = row.found or ("[yellow]missing (optional)[/]" if row.optional else "[red]missing[/]")
        table.add_row(row.name, state, row.use if row.found else f"{row.use}; [bold]{escape(row.get)}[/]")
    console().print(table)
    missing = [row for row in rows if not row.found and not row.optional]
    optional = sum(not row.found and row.optional for row in rows)
    how = (
        "run.py installs Debian packages itself here."
        if host_packages.privileged_prefix() is not None
        else "Paste what `run.py lab` prints."
    )
    tell(f"{sum(bool(row.found) for row in rows)} found, {len(missing)} missing, {optional} optional ones missing. {how}")
    return 1 if missing else 0


def survey() -> Iterator[Row]:
    """All dependencies, host first."""
    yield from _host()
    packages = host_packages.packages()
    there = host_packages.installed(packages)
    for package in packages.values():
        tests_only = package.groups <= {"tests", "browser", "bench"}
        use = f"{', '.join(sorted(package.groups))}: {package.use}"
        yield Row(package.name, use, there.get(package.name, ""), f"apt-get install {package.name}", tests_only)
    for name in python_packages():
        try:
            found = version(name)
        except PackageNotFoundError:
            found = ""
        yield Row(name, "Python package", found, "run.py makes an environment with it")
    own = settings.load()
    yield _gem5(own.gem5)
    for source in kernels.sources():
        recipe = kernels.load_recipe(source)
        if not recipe.package:
            yield _named(f"{source} source", recipe.summary, own.sources.get(source), settings.source_key(source))


def python_packages() -> list[str]:
    """Names in requirements.in."""
    lines = (REPOSITORY / "requirements.in").read_text(encoding="utf-8").splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def _host() -> Iterator[Row]:
    machine = platform.machine()
    yield Row("processor", "the fast engine's generated code", machine if machine == "x86_64" else "", "an x86-64 host")
    release = _os_release()
    is_12 = release.get("VERSION_ID") == "12" and release.get("ID") == "debian"
    yield Row(
        "Debian 12", "packages and sources", release.get("PRETTY_NAME", "") if is_12 else "", "a Debian 12 machine or container"
    )
    yield Row(
        "Python 3.11",
        "the host side",
        platform.python_version() if sys.version_info >= (3, 11) else "",
        "apt-get install python3",
    )
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    yield Row(
        "4 GiB of memory", "two points at a time", f"{memory:.1f} GiB" if memory >= 3.5 else "", "a larger host, or --jobs 1"
    )
    place = cache_root()
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free / 2**30
    yield Row(
        "6 GiB of disk",
        f"the cache {cache_root()}",
        f"{free:.0f} GiB free" if free >= 6 else "",
        "free some, or set MOSBENCH_CACHE",
    )


def _os_release() -> dict[str, str]:
    try:
        return platform.freedesktop_os_release()
    except OSError:
        return {}


def _gem5(place: Path | None) -> Row:
    """gem5 counts as found when it is one that will do: version, protocol, our SimObjects."""
    try:
        found = gem5_binary.find()
    except Failure as failure:
        get = (
            f'put gem5 = "PATH" into {settings_file()}; README.md says which'
            if place is None
            else f"{failure.what} {failure.cure}"
        )
        return Row("gem5", "cycle-level engine", "", get, optional=True)
    said = f"{found.version}, {found.protocol}, our SimObjects: {found.binary}"
    return Row("gem5", "cycle-level engine", said, "", optional=True)


def _named(name: str, use: str, place: Path | None, key: str) -> Row:
    found = str(place) if place is not None and place.exists() else ""
    get = f'put {key} = "PATH" into {settings_file()}' if place is None else f"{place} is not there: correct {settings_file()}"
    return Row(name, use, found, get, optional=True)
