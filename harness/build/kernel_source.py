# SPDX-License-Identifier: BSD-3-Clause
"""A kernel's source: the package, tree or tarball that it comes from, checked and unpacked."""

import hashlib
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from common import settings
from common.outcome import bad_input
from common.paths import settings_file
from common.progress import run_logged, step
from harness.build import source_trees
from harness.spec.kernel import Recipe, load_recipe, sources


def find_source(recipe: Recipe, tree: Path | None = None) -> tuple[Path, dict[str, str]]:
    """Where the source is (a folder or a tarball), and what identifies its content.

    ``tree`` (default: what the settings name) is the user's own; without one it is the package's, or fetched.

    Raises:
        Failure: bad-input, when it is nowhere.
    """
    tree = tree or settings.load().sources.get(recipe.name)
    if tree is not None and not tree.exists():
        raise bad_input(f"{tree} is not there.", recipe.obtain or f"Correct {settings_file()}.")
    if tree is not None or recipe.tarball is None:
        found = tree or source_trees.download(recipe.name, recipe.url, recipe.checksums, recipe.obtain)
        return found, {"sha256": source_trees.digest(found)}
    version = installed_version(recipe.package)
    if version is None or not recipe.tarball.is_file():
        raise bad_input(f"{recipe.tarball} is not there.", f"Install it: apt-get install {recipe.package}")
    return recipe.tarball, {"package": recipe.package, "version": version}


def available() -> list[str]:
    """Names of the sources that this host has without asking kernel.org: Debian's, and those that the settings name."""
    brought = settings.load().sources
    return [name for name in sources() if name in brought or load_recipe(name).package]


@contextmanager
def readable(recipe: Recipe, origin: Path) -> Iterator[Path]:
    """The source as a folder: ``origin`` itself, or a temporary one that its tarball was unpacked into.

    Raises:
        Failure: bad-input, when it is not a source of the recipe's version.
    """
    if origin.is_dir():
        check_version(recipe, origin)
        yield origin
        return
    with tempfile.TemporaryDirectory(prefix="mosbench-source-") as name:
        unpack(recipe, origin, Path(name, "tree"), Path(name, "log"))
        check_version(recipe, Path(name, "tree"))
        yield Path(name, "tree")


def installed_version(package: str) -> str | None:
    """Version of a Debian package on this machine, None when it is not installed."""
    try:
        query = ["dpkg-query", "--show", "--showformat", "${db:Status-Status} ${Version}", package]
        asked = subprocess.run(query, capture_output=True, text=True, check=False)
    except OSError:
        return None
    status, _, version = asked.stdout.partition(" ")
    return version if asked.returncode == 0 and status == "installed" else None


def unpack(recipe: Recipe, origin: Path, tree: Path, log: Path) -> None:
    """The source in the new folder ``tree``; what the tools say goes to ``log``."""
    if origin.is_dir():
        with step(f"Copying {origin}"):
            shutil.copytree(origin, tree, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        return
    if recipe.package:
        _verify_package_file(recipe.package, origin)
    tree.mkdir()
    unpack: list[str | Path] = [
        "tar",
        "--extract",
        "--no-same-owner",
        "--strip-components=1",
        "--file",
        origin,
        "--directory",
        tree,
    ]
    run_logged(f"Unpacking {origin.name}", unpack, log, cure=f"{origin} is no readable tarball: fetch it again.")


def _checksums(package: str) -> Path:
    return Path(f"/var/lib/dpkg/info/{package}.md5sums")


def _verify_package_file(package: str, path: Path) -> None:
    """Refuse a file that is not what the package installed."""
    known = _checksums(package)
    if not known.is_file():
        return
    wanted = {name: md5 for md5, _, name in (line.partition("  ") for line in known.read_text().splitlines())}
    with step(f"Checking {path.name}"), open(path, "rb") as handle:
        found = hashlib.file_digest(handle, "md5").hexdigest()
    if wanted.get(str(path).lstrip("/"), found) != found:
        raise bad_input(
            f"{path} is not the file that the package {package} installed.", f"Run: apt-get install --reinstall {package}"
        )


def check_version(recipe: Recipe, tree: Path) -> str:
    """The version that ``tree``'s Makefile states, with its stable number.

    Raises:
        Failure: bad-input when it is no kernel tree or not the recipe's version.
    """
    try:
        text = (tree / "Makefile").read_text(errors="replace")
    except OSError as error:
        raise bad_input(f"The source for {recipe.name} has no Makefile at its top.", recipe.obtain or "Reinstall it.") from error
    fields = dict(re.findall(r"^(VERSION|PATCHLEVEL|SUBLEVEL|EXTRAVERSION)\s*=[ \t]*(\S*)", text, re.MULTILINE))
    version: str = ".".join(fields.get(key, "") for key in ("VERSION", "PATCHLEVEL", "SUBLEVEL")) + fields.get("EXTRAVERSION", "")
    if version != recipe.version and not version.startswith(recipe.version + "."):
        raise bad_input(
            f"The source for {recipe.name} is Linux {version}, not {recipe.version}.", recipe.obtain or "Reinstall it."
        )
    return version
