# SPDX-License-Identifier: BSD-3-Clause
"""`run.py test`: static checks, C++ unit tests and the layers of pytest, with a summary that says why anything was skipped."""

import argparse
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table

from common import settings
from common.paths import REPOSITORY, cache_root
from common.terminal import console
from harness.build import host_packages
from harness.build.native_checks import build_folder
from harness.spec import kernel as kernels

_TELLING = re.compile(r"error: |\b(passed|failed|PASSED|FAILED|Found|Success)\b")
SOURCES = {settings.source_key(name): name for name in kernels.sources() if not kernels.load_recipe(name).package}
"""Layer of tests -> the kernel source that they need and the user brings."""
LAYERS = ("static", "cxx", "unit", "browser", "guest", "gem5", *SOURCES)


@dataclass(frozen=True)
class Result:
    """How one part of the tests ended."""

    name: str
    state: str
    """passed, failed or skipped"""
    detail: str
    seconds: float = 0.0


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--layer", action="append", choices=LAYERS, help="only these (default: all that this host can run)")
    parser.add_argument("arguments", nargs="*", metavar="...", help="passed on to pytest, after --")


def main(arguments: argparse.Namespace) -> int:
    chosen = arguments.layer or list(LAYERS)
    groups = ["tests", "browser", "engine", "kernel", "image"] if set(chosen) - {"static"} else ["engine"]
    host_packages.require(*host_packages.of_groups(*groups))
    results = [result for layer in LAYERS if layer in chosen for result in _run(layer, arguments.arguments)]
    table = Table("part", "result", "seconds", "", title="Tests")
    colours = {"passed": "green", "failed": "red", "skipped": "yellow"}
    for one in results:
        table.add_row(one.name, f"[{colours[one.state]}]{one.state}[/]", f"{one.seconds:.0f}", one.detail)
    console().print(table)
    return 1 if any(one.state == "failed" for one in results) else 0


def _run(layer: str, extra: Sequence[str]) -> list[Result]:
    special: dict[str, Callable[[], list[Result]]] = {"static": _static, "cxx": _cxx}
    if layer in special:
        return special[layer]()
    if reason := skip_reason(layer):
        return [Result(f"pytest {layer}", "skipped", reason)]
    # A guest keeps one processor of the host busy, so there are as many at a time as there are processors.
    workers = ["-n", str(len(os.sched_getaffinity(0))), "--dist", "worksteal"]
    told = ["--durations", "15", "--durations-min", "10"]
    command = [sys.executable, "-m", "pytest", "-m", layer, *workers, *told, *extra]
    return [_command(f"pytest {layer}", command, none_is_fine=True)]


def skip_reason(layer: str) -> str:
    """Why tests of a layer cannot run on this host; empty if they can."""
    if layer == "browser":
        needed = host_packages.of_groups("browser")
        missing = sorted(set(needed) - set(host_packages.installed(needed)))
        return f"no Debian package {', '.join(missing)}" if missing else ""
    own = settings.load()
    if layer == "gem5" and (own.gem5 is None or not own.gem5.is_file()):
        return "no gem5 binary in the settings (gem5 = PATH)"
    if layer in SOURCES and not ((tree := own.sources.get(SOURCES[layer])) and tree.exists()):
        return f"no source of {SOURCES[layer]} in the settings ({layer} = PATH)"
    return ""


def _static() -> list[Result]:
    return [
        _command("ruff", [_script("ruff"), "check", "."]),
        _command("mypy", [sys.executable, "-m", "mypy", "--cache-dir", str(cache_root() / "mypy")]),
        _command("clang-format", [_script("clang-format"), "--dry-run", "--Werror", *cxx_files()]),
    ]


def _script(name: str) -> str:
    """A program of the Python environment."""
    return str(Path(sys.executable).parent / name)


def cxx_files() -> list[str]:
    """The C++ and C files whose format is checked: all that are not made to look like the program they join."""
    ours = ["fast-engine/model", "fast-engine/qemu/files/accel/tcg/mosbench/logic", "gem5-configs/simobjects"]
    tests = [f"tests/{path.name}" for path in sorted((REPOSITORY / "tests").iterdir()) if any(path.glob("*.cc"))]
    roots = [*ours, "native", *tests, "disk-images", "workloads"]
    found = [
        path
        for root in roots
        for path in sorted((REPOSITORY / root).rglob("*"))
        if path.suffix in (".c", ".cc", ".cpp", ".h", ".hh")
    ]
    return [str(path.relative_to(REPOSITORY)) for path in found]


def _cxx() -> list[Result]:
    jobs = f"-j{len(os.sched_getaffinity(0))}"
    with build_folder() as build:
        return [_command("C++ tests", [_script("scons"), "-Q", jobs, f"build_dir={build}", "test"])]


def _command(name: str, command: Sequence[str], *, none_is_fine: bool = False) -> Result:
    """Run one part with its output passed through; its last line, or pytest's counts, becomes the detail."""
    print(f"== {name}", flush=True)
    began = time.monotonic()
    last, telling = "", False  # the last line that says how it went, or else the last one
    with subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            sys.stdout.write(line)
            sys.stdout.flush()
            last = line.strip() if re.search(r"\w", line) and (not telling or _TELLING.search(line)) else last
            telling = telling or bool(_TELLING.search(line))
    none = none_is_fine and process.returncode == 5  # pytest: no test collected
    state = "passed" if process.returncode == 0 else "skipped" if none else "failed"
    return Result(name, state, re.sub("=+", "", last).strip(), time.monotonic() - began)
