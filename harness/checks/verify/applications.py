# SPDX-License-Identifier: BSD-3-Clause
"""Does every application do its work right, in how long, and with how much memory of the host?

`verify applications [small] [NAME ...]`: each application's default variant at its default size on 48 cores, on the default
kernel and, without and with all fixes, on each source that the settings name. `small` is the smallest size on the small machine,
on the default kernel. A NAME is an application or a kernel, and leaves the others out. `--load` is where the clients are of those
applications that can have them in several places.

`--engine gem5` runs them on `--cores` at their smallest size, with their clients in the guest where nothing else is said, and
wants right results only: gem5 takes from minutes to hours for each (`gem5_applications`).

Each run is `run.py run` as a process of its own, from start to complete run directory; only what is built once is built before. A
complete run of full size is kept in the folder of the runs, unless there is one of its point, for `verify matrix` and `lab`.
Its seconds are CPU seconds: with two free processors it takes no longer than that, and on a host that does other work too they
stay what they are.
"""

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table

from analysis.report.paper import load_paper
from common import settings
from common.outcome import bad_input
from common.paths import REPOSITORY
from common.terminal import console
from harness.build import kernel_source
from harness.checks.registry import Check
from harness.checks.verify import gem5_applications
from harness.checks.verify.measuring import add_cores_option, add_engine_option, keep, point, prepare_host, scratch, skipped
from harness.run import run_directory, runner
from harness.spec import point as points
from harness.spec import workload
from harness.spec.kernel import default_source, sources
from harness.spec.point import Point

NAME = "applications"
SUMMARY = "all applications at 48 cores on every kernel: right results, at most 5 minutes each, at most 8 GB of host memory"
QUICK = ("small",)

SECONDS, BYTES = 300.0, 8_000_000_000
_LIMIT = 7200.0  # seconds of wall time after which a run is ended
SMALL_MACHINE = "machine=small-2x2 * cores=4"
_CORES = (48,)
_SHARED_OUT = {"objects", "files", "tasks"}
"""Parameters that are pieces of work; where an application is at its smallest size, there is one for each core."""


def applications() -> list[str]:
    """The paper's applications, in its order.

    Raises:
        Failure: bad-input, when one has no folder in workloads.
    """
    names = list(load_paper().applications)
    for name in names:
        workload.load(name)
    return names


@dataclass(frozen=True)
class Cost:
    """How one run of a point ended and what it took."""

    application: str
    kernel: str
    said: str
    """The last line of an unsuccessful run; empty when the work was right."""
    cpu: float
    """CPU seconds of all processes of the run."""
    wall: float
    peak_bytes: int
    """Largest resident size of any of them."""

    @property
    def shortcomings(self) -> list[str]:
        """Sentences, none when it is as it must be."""
        who = f"{self.application} on {self.kernel}"
        found = [f"{who}: {self.said}"] if self.said else []
        if self.cpu > SECONDS:
            found.append(f"{who}: {self.cpu:.0f} s of processor time are more than {SECONDS:.0f}.")
        if self.peak_bytes > BYTES:
            found.append(f"{who}: {self.peak_bytes / 1e9:.1f} GB are more than {BYTES / 1e9:g}.")
        return found


def kernels() -> list[str]:
    """Kernels that this host can build: the default one, and each source that the user brought, stock and with all fixes."""
    brought = [name for name in kernel_source.available() if name in settings.load().sources]
    return [default_source(), *(text for name in brought for text in (name, f"{name}:pk"))]


def select(arguments: Sequence[str]) -> tuple[list[str], list[str], bool]:
    """Applications, kernels and whether the small size is meant.

    Raises:
        Failure: bad-input, for a word that is none of them.
    """
    known, small = applications(), "small" in arguments
    words = [word for word in arguments if word != "small"]
    wanted = [word for word in words if word.partition(":")[0] in sources()]
    for word in words:
        if word not in known and word not in wanted:
            raise bad_input(
                f"{word!r} is no application and no kernel.", f"Use {', '.join(known)}, {', '.join(sources())}, or SOURCE:FIXES."
            )
    for name in wanted:
        points.parse_kernel(name)
    here = [default_source()] if small else kernels()
    return [word for word in known if word in words] or known, wanted or here, small


def measure(application: str, kernel: str, text: str, runs: Path) -> Cost:
    """Run the point ``text`` into ``runs``, as a user does."""
    errors = runs.with_name("errors.txt")
    began = time.monotonic()
    with open(errors, "wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "harness.cli", "run", text, "--output", str(runs)],
            cwd=REPOSITORY,
            stdout=subprocess.DEVNULL,
            stderr=output,
        )
        try:
            while (ended := os.wait4(process.pid, os.WNOHANG))[0] == 0:
                if time.monotonic() - began > _LIMIT:
                    process.terminate()
                time.sleep(0.1)
        except BaseException:
            process.terminate()
            process.wait()
            raise
    process.returncode = os.waitstatus_to_exitcode(ended[1])
    lines = [line for line in errors.read_text(errors="replace").splitlines() if line.strip()]
    said = "" if process.returncode == 0 else lines[-1] if lines else f"exit status {process.returncode}"
    usage = ended[2]
    return Cost(application, kernel, said, usage.ru_utime + usage.ru_stime, time.monotonic() - began, usage.ru_maxrss << 10)


def move(wanted: Point, runs: Path, root: Path) -> None:
    """Move the complete run of a point from the folder ``runs`` to ``root``, if there is none there."""
    with run_directory.locked(root, wanted):
        if not (root / wanted.id).exists():
            shutil.move(runs / wanted.id, root / wanted.id)


def configure(parser: argparse.ArgumentParser) -> None:
    add_engine_option(parser)
    add_cores_option(parser, _CORES)
    gem5_applications.add_windows_option(parser)
    parser.add_argument("--load", metavar="WHERE", help="where clients are, for applications with this parameter")
    parser.add_argument("words", nargs="*", metavar="NAME", help="`small`, applications and kernels (default: all, full size)")


def planned(arguments: argparse.Namespace) -> list[Point]:
    """What `run` runs."""
    return [point(text) for _, _, text in _texts(arguments)]


def _texts(arguments: argparse.Namespace) -> list[tuple[str, str, str]]:
    """(application, kernel, text of the point) of each run.

    Raises:
        Failure: bad-input, for windows on the fast engine.
    """
    names, chosen, small = select(arguments.words)
    gem5 = arguments.engine == "gem5"
    if arguments.windows and not gem5:
        raise bad_input("--windows is for gem5; the fast engine measures all of a region.", "Add --engine gem5, or leave it out.")
    load = arguments.load or ("loopback" if gem5 else None)
    found = []
    for kernel in chosen:
        for count in [None] if small else arguments.cores:
            machine = f"cores={count}" if count else SMALL_MACHINE
            if gem5:
                machine = gem5_applications.machine(machine, arguments.windows)
            for name in names:
                work = _smallest(name, count or 0) if small or gem5 else name
                found.append((name, kernel, f"{machine} * workload={work}{_load(name, load)} * kernel={kernel}"))
    return found


def _smallest(name: str, cores: int) -> str:
    known = workload.load(name)
    counts = known.variants[known.default_variant].parameters.keys() & _SHARED_OUT
    return workload.smallest(name, **{key: str(cores) for key in sorted(counts)} if cores else {})


def _load(name: str, where: str | None) -> str:
    known = workload.load(name)
    return f" * param.load={where}" if where and "load" in known.variants[known.default_variant].parameters else ""


def run(arguments: argparse.Namespace) -> Check:
    """Run every point, print what each took."""
    if (nothing := skipped(NAME, arguments.engine)) is not None:
        return nothing
    prepare_host()
    if arguments.engine == "gem5":
        return gem5_applications.run([(name, point(text)) for name, _, text in _texts(arguments)])
    _, chosen, small = select(arguments.words)
    table = Table("application", "cores", "kernel", "result", title="Applications", title_justify="left")
    for heading in ("CPU s", "wall s", "peak, GB"):
        table.add_column(heading, justify="right")
    costs = []
    with scratch(NAME) as folder:
        for name, kernel, text in _texts(arguments):
            wanted = point(text)
            runner.prepare(wanted)  # builds are not part of the time
            cost = measure(name, kernel, text, folder / "runs")
            costs.append(cost)
            sys.stderr.write(f"{name} on {kernel}: {cost.said or 'right'}, {cost.cpu:.0f} s\n")
            if cost.said:
                keep(folder)
            else:
                if not small:
                    move(wanted, folder / "runs", settings.load().runs)
                shutil.rmtree(folder / "runs")  # a run with its records is large
            took = (f"{cost.cpu:.0f}", f"{cost.wall:.0f}", f"{cost.peak_bytes / 1e9:.1f}")
            table.add_row(name, str(wanted.cores), kernel, cost.said or "right", *took)
    console().print(table)
    problems = [problem for cost in costs for problem in cost.shortcomings]
    for problem in problems:
        print(problem)
    return Check(not problems, figure(costs, chosen), len(costs))


def figure(costs: Sequence[Cost], chosen: Sequence[str]) -> str:
    """One line: seconds per application (the slowest kernel's), and what was wanted."""
    slowest: dict[str, float] = {}
    for cost in costs:
        slowest[cost.application] = max(slowest.get(cost.application, 0.0), cost.cpu)
    right = sum(not cost.said for cost in costs)
    return (
        f"{NAME}: {right} of {len(costs)} right on {', '.join(chosen)}; seconds: "
        + ", ".join(f"{name} {seconds:.0f}" for name, seconds in slowest.items())
        + f"; at most {max((cost.peak_bytes for cost in costs), default=0) / 1e9:.1f} GB; "
        + f"wanted: all right, {SECONDS:.0f} s, {BYTES / 1e9:g} GB"
    )
