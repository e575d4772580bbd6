# SPDX-License-Identifier: BSD-3-Clause
"""How much slower than QEMU is the fast engine, with 48 cores and everything modelled?

Ways to run the same guest:

    Debian     Debian's qemu-system-x86_64 of the version that the engine is built from, one thread for all virtual CPUs
    no engine  our own build without the engine object: what our build options and idle hooks cost
    no model   the engine without its model: cores in the order of their clocks, no access is looked at
    in order   everything, with core = in-order
    engine     everything, with cores that work ahead, as by default

The slowdown is in million guest instructions per host CPU second (MIPS), in the region. A unit of the guest's work is no measure:
an unmodified QEMU has no contention (a core runs for milliseconds before the next one does), so one open costs its guest a few
thousand instructions, where on 48 cores that really meet most are spent waiting for a lock. What a unit costs is printed
beside it, because that is what a user waits for.

Instructions are those that were executed. The engine lets a core sleep through the rounds of a loop with PAUSE that can only be
the same again; what such rounds would have executed counts for the guest, not here.

CPU seconds of the emulator's process, not wall time, are read when the guest reports the marks of the region, which micro
prints just outside it; so the same method holds for a QEMU that knows no marker. Instructions of Debian's QEMU per unit come
from a further run of it with a plugin that counts them in generated code (count.c), so that the run that is timed is without.
Iterations are chosen for regions of about a second, long against the few milliseconds of the reading. Debian's QEMU and both
engines run several times in turns, and the quickest region of each counts: what shares caches and memory with them only makes a
region slower. Unmodified QEMU's timer interrupts follow the host's wall clock: on a loaded host its guest does more of them; the
last column (CPU / wall) says how much of a processor a run had.
"""

import argparse
import json
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from rich.table import Table

from analysis.report.words import cores_text
from common.arguments import positive
from common.outcome import bad_input
from common.terminal import console
from harness.build import host_packages, image, kernel
from harness.checks.bench.guest import Used, measure
from harness.checks.registry import Check
from harness.checks.verify.measuring import point, prepare_host, scratch
from harness.run.engines.fast import FastEngine, qemu_command

NAME = "engine"
SUMMARY = "slowdown against Debian's QEMU at 48 cores, by kind of work, and MIPS at 1 to 48 cores"

_DEBIAN = Path("/usr/bin/qemu-system-x86_64")
_PACKAGE = "qemu-system-x86"
_PLUGIN = Path(__file__).with_name("count.c")
_CORES = 48
_CURVE = (1, 6, 12, 24)
_CONTENDED_MIPS = 25.0
_BOOT_BOUND = 1.5
_REPEATS = 5

WAYS = ("Debian", "no engine", "no model", "in order", "engine")
_COUNTED = "Debian, counting"
_JUDGED = ("Debian", "in order", "engine")
_AHEAD_BOUND = 1.3
"""Slowdown of cores that work ahead against in-order ones."""


@dataclass(frozen=True)
class Work:
    """One kind of work: the microbenchmark, the largest ratio allowed, iterations per core without and with a model."""

    benchmark: str
    bound: float
    without_model: int
    with_model: int

    def text(self, way: str, cores: int) -> str:
        iterations = self.with_model if way in ("in order", "engine") else self.without_model
        core = "" if way == "engine" else " * set.core=in-order"
        return f"workload=micro:{self.benchmark}:iterations={iterations} * cores={cores}{core}"


WORK = {
    "private data": Work("private-counters", 2.0, 8000009, 4000037),
    "streaming": Work("stream", 24.0, 1511, 521),
    "open/close of one file": Work("open-close", 8.0, 4001, 307),
    "one contended line": Work("shared-atomic", 20.0, 10000019, 600011),
}


@dataclass(frozen=True)
class Measured:
    """One boot: what it used, and the guest's instructions in the region (0: not known)."""

    used: Used
    instructions: int = 0
    cpu: float = 0.0
    """CPU seconds in the region."""

    @property
    def mips(self) -> float:
        """Million guest instructions per CPU second in the region; 0: not known."""
        return self.instructions / self.cpu / 1e6 if self.cpu else 0.0

    def with_instructions_of(self, counted: "Measured") -> "Measured":
        """The same boot, with the instructions per unit that another one had."""
        per_unit = counted.instructions / float(counted.used.result["units"])
        return replace(self, instructions=round(per_unit * float(self.used.result["units"])))


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
        built, disk = kernel.build(wanted.source, wanted.fixes), image.of(wanted)
        options: Mapping[str, str] = {"snapshot": "off"}
        if way == "no model":
            options = {**options, "model": "", "quantum": self._quantum or self.quantum(text)}
        engine = FastEngine(options)
        command = engine.command(wanted, built, disk, folder)
        counter = None
        if way in ("Debian", "no engine", _COUNTED):
            binary = Path(command[0]) if way == "no engine" else _DEBIAN
            command = qemu_command(binary, wanted, built, disk, folder / "console.log", None)
        if way == _COUNTED:
            counter = folder / "instructions"
            counter.write_bytes(bytes(8))
            command += ["-plugin", f"{self._plugin()},count={counter}"]
        used = measure(f"{way}: {wanted.workload_text}, {cores_text(wanted.cores)}", command, folder, counter=counter)
        said_by_engine = folder / "engine" / "engine.json"
        if not said_by_engine.exists():
            return Measured(used, used.region_instructions, used.region)
        said = json.loads(said_by_engine.read_text(encoding="utf-8"))
        self._quantum = str(said["quantum_cycles"])
        region = said["phases"]["region"]
        return Measured(used, region["instructions"], region["cpu_seconds"])

    def _plugin(self) -> Path:
        """The plugin that counts instructions, built at its first use."""
        plugin = self._root / "count.so"
        if not plugin.exists():
            subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-o", plugin, _PLUGIN], check=True)
        return plugin

    def quantum(self, text: str) -> str:
        """The quantum that the model asks for, in cycles."""
        self.boot("engine", text)
        return self._quantum


def quickest(bench: Bench, work: Work, repeats: int) -> dict[str, Measured]:
    """By way, the boot whose region took the least CPU time for a unit; those that are judged have ``repeats`` to choose from."""
    boots: dict[str, list[Measured]] = {}
    for turn in range(repeats):
        for way in (*reversed(WAYS), _COUNTED):
            if turn == 0 or way in _JUDGED:
                boots.setdefault(way, []).append(bench.boot(way, work.text(way, _CORES)))
    return {way: min(each, key=lambda one: one.used.region_per_unit) for way, each in boots.items()}


def slowdown(results: Mapping[tuple[str, str], Measured], kind: str, way: str) -> float:
    """MIPS of Debian's QEMU / MIPS of ``way``."""
    return results[kind, "Debian"].mips / results[kind, way].mips


def report(results: Mapping[tuple[str, str], Measured]) -> Table:
    """One row per kind of work and way: MIPS, slowdown, cost of a unit and its ratio to Debian's QEMU."""
    table = Table("work", "way", title=f"{_CORES} cores, in the region", title_justify="left")
    for heading in ("MIPS", "slowdown", "at most", "CPU us/unit", "x Debian", "instr/unit", "CPU s", "boot CPU s", "CPU / wall"):
        table.add_column(heading, justify="right")
    for (kind, way), one in results.items():
        units = float(one.used.result["units"])
        table.add_row(
            kind if way == "Debian" else "",
            way,
            f"{one.mips:.0f}",
            f"{slowdown(results, kind, way):.2f}",
            f"{WORK[kind].bound:g}" if way == "engine" else "",
            f"{1e6 * one.used.region_per_unit:.4g}",
            f"{one.used.region_per_unit / results[kind, 'Debian'].used.region_per_unit:.2f}",
            f"{one.instructions / units:.4g}",
            f"{one.cpu:.2f}",
            f"{one.used.boot:.1f}",
            f"{one.used.cpu_total / one.used.wall:.2f}",
            end_section=way == WAYS[-1],
        )
    return table


def ratio_of_boots(results: Mapping[tuple[str, str], Measured], way: str) -> float | None:
    """CPU time up to the region's first mark against Debian's QEMU: the smaller boot of each way, over the kinds of work that
    touch no memory of their own first (all but streaming). None: there is none of these."""

    def boots(wanted: str) -> list[float]:
        return [one.used.boot for (kind, made), one in results.items() if made == wanted and kind != "streaming"]

    return min(boots(way)) / min(boots("Debian")) if boots(way) else None


def curve(bench: Bench, results: Mapping[tuple[str, str], Measured]) -> Table:
    """MIPS and slowdown of open/close of one file by cores, each against Debian's QEMU with as many; 48 are known already."""
    kind = "open/close of one file"
    work = WORK[kind]
    table = Table("cores", title=f"{kind} by cores", title_justify="left")
    for heading in ("MIPS", "slowdown"):
        table.add_column(heading, justify="right")
    rows = {}
    for cores in _CURVE:
        # Few cores spin little: the same time in the region is many more iterations of each.
        more = _CORES // cores
        scaled = replace(work, with_model=work.with_model * 4 * more, without_model=work.without_model * more)
        rows[cores] = bench.boot("engine", scaled.text("engine", cores)), bench.boot(_COUNTED, scaled.text(_COUNTED, cores))
    rows[_CORES] = results[kind, "engine"], results[kind, "Debian"]
    for cores, (ours, theirs) in rows.items():
        table.add_row(str(cores), f"{ours.mips:.0f}", f"{theirs.mips / ours.mips:.2f}")
    return table


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--only", choices=[work.benchmark for work in WORK.values()], help="one kind of work, without the curve")
    parser.add_argument("--repeats", type=positive, default=_REPEATS, help="boots of either QEMU (%(default)s)")


def run(arguments: argparse.Namespace) -> Check:
    """Boot every kind of work in every way, print ratios, judge those with a bound."""
    prepare_host()
    host_packages.require(_PACKAGE)
    engine = FastEngine().prepare()
    check_debian(engine.versions["qemu"])
    kinds = [kind for kind, work in WORK.items() if arguments.only in (None, work.benchmark)]
    results: dict[tuple[str, str], Measured] = {}
    with scratch(NAME) as folder:
        bench = Bench(folder)
        for kind in kinds:
            ways = quickest(bench, WORK[kind], arguments.repeats)
            for way in WAYS:
                known = ways[way].instructions > 0
                results[kind, way] = ways[way] if known else ways[way].with_instructions_of(ways[_COUNTED])
        console().print(report(results))
        if not arguments.only:
            console().print(curve(bench, results))
    return judge(kinds, results)


def judge(kinds: list[str], results: Mapping[tuple[str, str], Measured]) -> Check:
    """Every ratio beside its bound."""
    said, passed = [], True
    for kind in kinds:
        ours = results[kind, "engine"]
        ratio = slowdown(results, kind, "engine")
        said.append(f"{kind} {ratio:.1f} x (<= {WORK[kind].bound:g})")
        passed &= ratio <= WORK[kind].bound
        ahead = results[kind, "in order"].mips / ours.mips
        said.append(f"{ahead:.2f} x in-order cores (<= {_AHEAD_BOUND:g})")
        passed &= ahead <= _AHEAD_BOUND
        if kind == "one contended line":
            said.append(f"there {ours.mips:.0f} MIPS (>= {_CONTENDED_MIPS:g})")
            passed &= ours.mips >= _CONTENDED_MIPS
    if (boot := ratio_of_boots(results, "engine")) is not None:
        said.append(f"boot to the region {boot:.2f} x (<= {_BOOT_BOUND:g})")
        passed &= boot <= _BOOT_BOUND
    return Check(passed, f"{NAME}: {', '.join(said)}", len(kinds))
