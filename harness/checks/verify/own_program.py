# SPDX-License-Identifier: BSD-3-Clause
"""Do programs of a user's own run, are their functions and variables named, and is what cannot run told in one sentence?

A static C program that marks its region, a C++ program with threads and shared libraries, and Python from a package must run and
have names. Programs that crash, go into the background, never end or have no region, and such as the guest cannot run at all,
must end in their outcome.
"""

import argparse
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table

from analysis.attribute.tables import read_table
from common import settings
from common.outcome import Failure, Outcome
from common.terminal import console
from harness.build import guest_programs, own_program
from harness.build.kernel_source import available
from harness.build.own_program import OwnProgram
from harness.checks.registry import Check
from harness.checks.verify.measuring import add_source_option, keep, point, prepare_host, scratch, variable
from harness.run import runner
from harness.spec.point import Point

NAME = "own-program"
SUMMARY = "programs of one's own: static, with threads, Python, and such as cannot run: names and outcomes"
QUICK = ("--source", "default")
BESIDES = (
    "Its programs are compiled first, and workloads made of them that run on the small machine; until then it is unknown what "
    "they take."
)

_SOURCES = Path(__file__).with_name("own_programs")
_LOADER = b"/lib64/ld-linux-x86-64.so.2"
_MUSL = b"/lib/ld-musl-x86_64.so.1"
_SECONDS = 90.0
"""After which the program that never ends has not ended; a boot is a small part of it."""


@dataclass(frozen=True)
class _Case:
    """``names`` are functions and labels that a run must have; without an outcome it must be well."""

    what: str
    program: OwnProgram
    names: tuple[str, ...] = ()
    outcome: Outcome = Outcome.OK
    said: str = ""
    limited: bool = False


def configure(parser: argparse.ArgumentParser) -> None:
    add_source_option(parser, "one kernel only (default: each that this host has a source of)")


def planned(_: argparse.Namespace) -> list[Point]:
    """None before the programs are compiled."""
    return []


def run(arguments: argparse.Namespace) -> Check:
    """Run every case and compare."""
    prepare_host()
    judged = wrong = 0
    with scratch(NAME) as folder:
        for source in [arguments.source] if arguments.source else available():
            table = Table("program", "wanted", "found", title=f"Programs of one's own on {source}", title_justify="left")
            for case in _cases(folder):
                found, right = _run(case, source, folder)
                wanted = ", ".join(case.names) if case.outcome is Outcome.OK else f"{case.outcome}: {case.said}"
                table.add_row(case.what, wanted, found if right else f"[red]{found}[/]")
                judged, wrong = judged + 1, wrong + (not right)
            console().print(table)
        if wrong:
            keep(folder)
    return Check(not wrong, f"{NAME}: {judged - wrong} of {judged} programs as they should be; wanted: all", judged)


def _run(case: _Case, source: str, folder: Path) -> tuple[str, bool]:
    try:
        workload = own_program.folder(case.program)
        with _limited(folder) if case.limited else _as_set():
            wanted = point(f'workload="{workload}" * machine=small-2x2 * cores=4 * kernel={source}:stock')
            ran = runner.run_point(wanted, folder / "runs", reuse="none")
    except Failure as failure:
        right = failure.outcome is case.outcome and case.said in failure.what and bool(failure.cure)
        return f"{failure.outcome}: {failure.what}", right
    names = {
        name for table in ("sites", "samples") for name in read_table(ran.folder, table, ["function"])["function"].to_pylist()
    }
    names |= set(read_table(ran.folder, "sites", ["field"])["field"].to_pylist())
    met = [name for name in case.names if name in names]
    return ", ".join(met) or "none of the names", case.outcome is Outcome.OK and len(met) == len(case.names)


def _cases(folder: Path) -> Iterator[_Case]:
    marked = _compiled(folder, "marked.c", "gcc", "-static", f"-I{guest_programs.GUEST}")
    threads = _compiled(folder, "threads.cc", "g++", "-pthread")
    badly = _compiled(folder, "badly.c", "gcc")
    yield _Case("static C that marks its region", OwnProgram(marked), ("count_up", "user memory: own_counter (marked)"))
    yield _Case(
        "C++ with threads and shared libraries",
        OwnProgram(threads, ("4",)),
        ("app::Counter::hammer", "user memory: app::shared_total (threads)"),
    )
    python = OwnProgram("python3", ("-c", "print(sum(n * n for n in range(20000)))"), ("python3-minimal",))
    yield _Case("Python of a package", python, ("_PyEval_EvalFrameDefault",))
    failed = Outcome.APPLICATION_FAILED
    yield _Case("one that crashes", OwnProgram(badly, ("crash",)), outcome=failed, said="signal 11 (Segmentation fault)")
    yield _Case("one in the background", OwnProgram(badly, ("background",)), outcome=failed, said="left 1 process behind")
    yield _Case("one without a region", OwnProgram(badly, region="marked"), outcome=failed, said="marked no region")
    yield _Case("one that never ends", OwnProgram(badly, ("forever",)), outcome=Outcome.TIMEOUT, said="", limited=True)
    unknown = OwnProgram(badly, packages=("no-such-package-of-debian",))
    yield _Case("a package that does not exist", unknown, outcome=Outcome.BAD_INPUT, said="no-such-package-of-debian")
    other = _changed(badly, folder / "arm", lambda data: data[:18] + b"\xb7\0" + data[20:])
    yield _Case("one for another processor", OwnProgram(other), outcome=Outcome.BAD_INPUT, said="AARCH64")
    musl = _changed(badly, folder / "musl", lambda data: data.replace(_LOADER, _MUSL.ljust(len(_LOADER), b"\0")))
    yield _Case("one for another C library", OwnProgram(musl), outcome=Outcome.BAD_INPUT, said="another C library")


def _compiled(folder: Path, source: str, compiler: str, *flags: str) -> str:
    program = folder / Path(source).stem
    subprocess.run([compiler, "-O1", "-g", "-o", program, _SOURCES / source, *flags], check=True)
    return str(program)


def _changed(program: str, target: Path, change: Callable[[bytes], bytes]) -> str:
    target.write_bytes(change(Path(program).read_bytes()))
    return str(target)


@contextmanager
def _as_set() -> Iterator[None]:
    yield


@contextmanager
def _limited(folder: Path) -> Iterator[None]:
    """The user's settings with less time for a run."""
    file = folder / "settings.toml"
    own = settings.load().sources
    lines = [f"run_seconds = {_SECONDS}", *(f'{settings.source_key(name)} = "{path}"' for name, path in own.items())]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with variable("MOSBENCH_SETTINGS", str(file)):
        yield
