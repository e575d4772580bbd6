# SPDX-License-Identifier: BSD-3-Clause
"""How much slower than QEMU is the fast engine, with 48 cores and everything modelled?

Four ways to run the same guest:

    Debian     Debian's qemu-system-x86_64 of the version that the engine is built from, one thread for all virtual CPUs
    no engine  our own build without the engine object: what our build options and idle hooks cost
    no model   the engine without its model: cores in the order of their clocks, no access is looked at
    engine     everything

Compared is what a user waits for: host CPU seconds of the emulator's process for one unit of the guest's work in the region
(`Used.region_per_unit`), not per instruction, because cores that wait in a loop execute other numbers of instructions where
their clocks are ordered by time. A region's CPU time is read between the console reports of its marks, which micro
prints outside the region; so the same method holds for a QEMU that knows no marker. The number of iterations per way is
chosen for regions of about a second, long against the few milliseconds of the reading; a ratio of costs per unit does not depend
on it. Unmodified QEMU's timer interrupts follow the host's wall clock: on a loaded host its guest spends more CPU time on
them, so the ratios are meant for a quiet one; the last column of the table (CPU / wall) says how quiet it was.
"""

import argparse
import json
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table

from harness import image, runner, tools
from harness.bench.guest import Used, measure
from harness.check import Check
from harness.engines.fast import FastEngine, qemu_command
from harness.outcome import bad_input
from harness.terminal import console
from harness.verify.measuring import point, prepare_host, scratch

NAME = "engine"
SUMMARY = "slowdown against Debian's QEMU at 48 cores, by kind of work, and MIPS at 1 to 48 cores"

_DEBIAN = Path("/usr/bin/qemu-system-x86_64")
_PACKAGE = "qemu-system-x86"
_CORES = 48
_CURVE = (1, 6, 12, 24)
_CONTENDED_MIPS = 25.0
_BOOT_BOUND = 1.5

WAYS = ("Debian", "no engine", "no model", "engine")


@dataclass(frozen=True)
class Work:
    """One kind of work: the microbenchmark, the largest ratio allowed, iterations per core without and with a model."""

    benchmark: str
    bound: float
    without_model: int
    with_model: int

    def text(self, way: str, cores: int) -> str:
        iterations = self.with_model if way == "engine" else self.without_model
        return f"workload=micro:{self.benchmark}:iterations={iterations} * cores={cores}"


WORK = {
    "private data": Work("private-counters", 2.0, 8000009, 4000037),
    "streaming": Work("stream", 5.0, 1511, 521),
    "open/close of one file": Work("open-close", 8.0, 1511, 307),
    "one contended line": Work("shared-atomic", 20.0, 1000003, 100003),
}


@dataclass(frozen=True)
class Measured:
    """One boot."""

    used: Used
    region_instructions: int = 0
    region_cpu: float = 0.0
    """Both as the engine counts them; 0 where there is none."""

    @property
    def mips(self) -> float:
        """Million guest instructions per CPU second, in the region."""
        return self.region_instructions / self.region_cpu / 1e6 if self.region_cpu else 0.0


def check_debian(version: str) -> None:
    """Debian's emulator must be of the source version ``version`` (as 1:7.2+dfsg-7+deb12u18), rebuilds (+b3) allowed.

    Raises:
        Failure: bad-input, when it is another.
    """
    said = subprocess.run([_DEBIAN, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    found = re.search(r"\(Debian (.*?)(\+b\d+)?\)", said)
    if found is None or found[1] != version:
        raise bad_input(f"{_DEBIAN} is {said!r}, the engine is built from {version}.", f"Install {_PACKAGE} of that version.")


class Bench:
    """Boots guests one after the other, in folders below ``root``."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._quantum = ""
        self._count = 0

    def boot(self, way: str, text: str) -> Measured:
        """Run the point ``text`` in one of `WAYS`."""
        self._count += 1
        folder = self._root / str(self._count)
        (folder / "engine").mkdir(parents=True)
        wanted = point(text)
        kernel, disk = runner.build_kernel(wanted.source, wanted.fixes), image.build()
        options: Mapping[str, str] = {"snapshot": "off"}
        if way == "no model":
            options = {**options, "model": "", "quantum": self._quantum or self.quantum(text)}
        engine = FastEngine(options)
        command = engine.command(wanted, kernel, disk, folder)
        if way in ("Debian", "no engine"):
            binary = _DEBIAN if way == "Debian" else Path(command[0])
            command = qemu_command(binary, wanted, kernel, disk, folder / "console.log", None)
        used = measure(f"{way}: {wanted.workload_text}, {wanted.cores} cores", command, folder)
        if way != "engine":
            return Measured(used)
        said = json.loads((folder / "engine" / "engine.json").read_text(encoding="utf-8"))
        self._quantum = str(said["quantum_cycles"])
        region = said["phases"]["region"]
        return Measured(used, region["instructions"], region["cpu_seconds"])

    def quantum(self, text: str) -> str:
        """The quantum that the model asks for, in cycles."""
        self.boot("engine", text)
        return self._quantum


def report(results: Mapping[tuple[str, str], Measured]) -> Table:
    """One row per kind of work and way: cost of a unit and its ratio to Debian's QEMU."""
    table = Table("work", "way", title=f"{_CORES} cores: cost of one unit of work", title_justify="left")
    for heading in ("CPU us/unit", "x Debian", "at most", "CPU s in region", "MIPS", "boot CPU s", "CPU / wall"):
        table.add_column(heading, justify="right")
    for (kind, way), one in results.items():
        ratio = one.used.region_per_unit / results[kind, "Debian"].used.region_per_unit
        table.add_row(
            kind if way == "Debian" else "",
            way,
            f"{1e6 * one.used.region_per_unit:.4g}",
            f"{ratio:.2f}",
            f"{WORK[kind].bound:g}" if way == "engine" else "",
            f"{one.used.region:.2f}",
            f"{one.mips:.0f}" if one.mips else "",
            f"{one.used.boot:.1f}",
            f"{one.used.cpu_total / one.used.wall:.2f}",
            end_section=way == WAYS[-1],
        )
    return table


def ratio_of_boots(results: Mapping[tuple[str, str], Measured], way: str) -> float:
    """CPU time up to the region's first mark against Debian's QEMU: the smaller boot of each way, over the kinds of work that
    touch no memory of their own first (all but streaming)."""

    def least(wanted: str) -> float:
        return min(one.used.boot for (kind, made), one in results.items() if made == wanted and kind != "streaming")

    return least(way) / least("Debian")


def curve(bench: Bench, at_most: Measured, debian: Measured) -> Table:
    """MIPS and ratio of open/close of one file by cores; the row of 48 cores is measured already."""
    work = WORK["open/close of one file"]
    table = Table("cores", title="open/close of one file by cores", title_justify="left")
    for heading in ("MIPS", "x Debian"):
        table.add_column(heading, justify="right")
    rows = {}
    for cores in _CURVE:
        scaled = Work(work.benchmark, work.bound, work.without_model * _CORES // cores, work.with_model * _CORES // cores)
        rows[cores] = bench.boot("engine", scaled.text("engine", cores)), bench.boot("Debian", scaled.text("Debian", cores))
    rows[_CORES] = at_most, debian
    for cores, (ours, theirs) in rows.items():
        table.add_row(str(cores), f"{ours.mips:.0f}", f"{ours.used.region_per_unit / theirs.used.region_per_unit:.2f}")
    return table


def run(arguments: list[str]) -> Check:
    """Boot every kind of work in every way, print ratios, judge those with a bound."""
    parser = argparse.ArgumentParser(prog=f"run.py bench {NAME}")
    parser.add_argument("--only", choices=[work.benchmark for work in WORK.values()], help="one kind of work, without the curve")
    chosen = parser.parse_args(arguments)
    prepare_host()
    tools.require(_PACKAGE)
    engine = FastEngine().prepare()
    check_debian(engine.versions["qemu"])
    kinds = [kind for kind, work in WORK.items() if chosen.only in (None, work.benchmark)]
    results: dict[tuple[str, str], Measured] = {}
    with scratch(NAME) as folder:
        bench = Bench(folder)
        for kind in kinds:
            ways = {way: bench.boot(way, WORK[kind].text(way, _CORES)) for way in reversed(WAYS)}
            results |= {(kind, way): ways[way] for way in WAYS}
        console().print(report(results))
        if not chosen.only:
            name = "open/close of one file"
            console().print(curve(bench, results[name, "engine"], results[name, "Debian"]))
    return judge(kinds, results)


def judge(kinds: list[str], results: Mapping[tuple[str, str], Measured]) -> Check:
    """Every ratio beside its bound."""
    said, passed = [], True
    for kind in kinds:
        ours = results[kind, "engine"]
        ratio = ours.used.region_per_unit / results[kind, "Debian"].used.region_per_unit
        said.append(f"{kind} {ratio:.1f} x (<= {WORK[kind].bound:g})")
        passed &= ratio <= WORK[kind].bound
        if kind == "one contended line":
            said.append(f"there {ours.mips:.0f} MIPS (>= {_CONTENDED_MIPS:g})")
            passed &= ours.mips >= _CONTENDED_MIPS
    boot = ratio_of_boots(results, "engine")
    said.append(f"boot to the region {boot:.2f} x (<= {_BOOT_BOUND:g})")
    return Check(passed and boot <= _BOOT_BOUND, f"{NAME}: {', '.join(said)}")
