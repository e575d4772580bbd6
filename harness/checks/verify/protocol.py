# SPDX-License-Identifier: BSD-3-Clause
"""Is gem5's protocol with an L3 (gem5-configs/protocol) right?

    search    every order of messages and evictions on small machines, by the rules as a program (tests/protocol): one line
    testers   random testers on the source: gem5's RubyTester, where one core stores what another reads, and MemTest, where each
              core and two devices have a byte of every line; and ours, LockTester, where cores add to counters by locked
              instructions and devices write parts of the same lines. Few lines, caches of two to sixteen lines, random delays.
              They need a gem5 with MOESI_htassist in the settings, without which they are left out and the last line says so.
              LockTester must also find two faults that are put into its traffic.

How often each state met each event is added up over all testers. A pair that the source has and no tester met is printed, and
whether the search reaches it; in a run that is not quick there must be none that neither does.
"""

import argparse
import importlib.util
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table

from common.arguments import positive
from common.outcome import Failure, bad_input
from common.paths import REPOSITORY
from common.progress import run_logged, step
from common.terminal import console
from harness.build import host_packages
from harness.build.native_checks import build_folder
from harness.checks.registry import Check
from harness.checks.verify.measuring import keep, scratch
from harness.run.engines.base import engine
from harness.run.engines.gem5_binary import CONFIGS, find
from harness.run.engines.gem5_log import diagnosis
from harness.spec.point import Point

NAME = "protocol"
SUMMARY = "gem5's protocol with an L3: all races of small machines, gem5's random testers, the transitions that they met"
QUICK = ("--quick", "--parts", "search")
BESIDES = "It runs no point: it searches the protocol's rules on this host and runs gem5's random testers."

PROTOCOL = "MOESI_htassist"
_PARTS = ("search", "testers")
_SEARCHES = ("1 2 devices fetches lookups", "1 3 devices fetches lookups", "2 1 devices fetches lookups", "3 1")
_QUICK_SEARCHES = ("1 2 devices fetches lookups", "2 1 devices", "2 1 fetches")
_SHAPES = ((1, 1), (2, 2), (2, 6), (8, 6))
"""Sockets and cores of each, of the testers."""
_DEVICES = 2
_KINDS = ("random", "memory", "locks")
_SEEDED = ("unlocked", "whole-line")
"""Faults of LockTester's traffic."""
_SEEDED_OPERATIONS = 5000
_ACCESSES, _QUICK_ACCESSES = 10_000_000, 300_000
_SEEDS, _QUICK_SEEDS = 12, 4
_MACHINES = ("small", "tiny", "late", "queued")
"""Caches and latencies of gem5-configs/test_protocol.py, one seed after another."""
_SEARCHED = re.compile(r"^worlds (\d+) steps \d+ depth \d+ (complete|not complete)$", re.MULTILINE)
_REACHED = re.compile(r"^pair (\w+) (\w+) (\w+)$", re.MULTILINE)
_MET = re.compile(r"^\S*?\.?(\w+)_Controller\.(\w+)\.(\w+)::total\s+(\d+)", re.MULTILINE)
_CHECKS = re.compile(r"^\S+\.(?:numReads|numWrites|checks_completed|checks)\s+(\d+)", re.MULTILINE)
_ENDED = re.compile(r"^(?:random|memory|locks) \S+: (.+) at tick (\d+)$", re.MULTILINE)

Pair = tuple[str, str, str]
"""Machine type, state, event."""

OUT_OF_REACH: Mapping[Pair, str] = {
    ("L3Cache", "G", "Spill_Wait"): "a core has the line alone, so the L3 has nothing of it to give back",
    ("L3Cache", "W", "Spill_Wait"): "the L3 gave the line back, and no core owns it that could evict it before the end of that",
    ("L3Cache", "WP", "Spill_Wait"): "the same, with a probe open",
}
"""Pairs of the source that nothing comes to, and why; one transition has all states of a node."""


@dataclass(frozen=True)
class Searched:
    """One machine's search."""

    text: str
    worlds: int
    fault: str
    """Empty: none."""
    pairs: frozenset[Pair] = frozenset()
    """What it reached."""


@dataclass(frozen=True)
class Tested:
    """One tester's run."""

    kind: str
    """One of `_KINDS`."""
    sockets: int
    cores: int
    seed: int
    accesses: int
    fault: str
    """Empty: none."""
    met: Counter[Pair]


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--quick", action="store_true", help="smaller searches and fewer accesses: about five minutes")
    parser.add_argument("--parts", default=",".join(_PARTS), metavar="A,B", help="%(default)s")
    parser.add_argument("--accesses", type=positive, metavar="N", help=f"of all testers ({_ACCESSES}, quick {_QUICK_ACCESSES})")
    parser.add_argument("--seeds", type=positive, metavar="N", help=f"of each tester ({_SEEDS}, quick {_QUICK_SEEDS})")


def planned(_: argparse.Namespace) -> list[Point]:
    """What `run` runs: no point."""
    return []


def run(arguments: argparse.Namespace) -> Check:
    """Search, test, print what was met."""
    parts = arguments.parts.split(",")
    if unknown := [part for part in parts if part not in _PARTS]:
        raise bad_input(f"verify {NAME} has no part {unknown[0]!r}.", f"Use --parts {','.join(_PARTS)}.")
    searched: list[Searched] = []
    tested: list[Tested] = []
    seeded: dict[str, str] = {}
    left_out = ""
    with scratch(NAME) as folder:
        if "search" in parts:
            searched = list(_search(_QUICK_SEARCHES if arguments.quick else _SEARCHES, folder))
        if "testers" in parts:
            left_out = why_no_testers()
            if not left_out:
                engine("gem5").prepare()  # a recorded page names it
                tested = _test(arguments, folder)
                seeded = {fault: _seed(fault, folder) for fault in _SEEDED}
        check = judge(searched, tested, pairs_of_the_source(), left_out, seeded, whole=not arguments.quick)
        if not check.passed:
            keep(folder)
    return check


def _search(machines: Sequence[str], folder: Path) -> Iterator[Searched]:
    host_packages.require(*host_packages.of_groups("tests", "engine"))
    scons = Path(sys.executable).with_name("scons")
    with build_folder() as build:
        program = build / "protocol-search"
        run_logged("Building the search", [scons, "-Q", f"build_dir={build}", program], folder / "build.log", cwd=REPOSITORY)
    for text in machines:
        with step(f"Search {text}"):
            done = subprocess.run([program, *text.split(), "pairs"], capture_output=True, text=True, check=False)
        (folder / f"search-{text.replace(' ', '-')}.txt").write_text(done.stdout + done.stderr, encoding="utf-8")
        yield searched_of(text, done.returncode, done.stdout)


def searched_of(text: str, status: int, output: str) -> Searched:
    """What protocol-search says of the machine ``text``; it is a fault when it does not say that it saw everything."""
    said = _SEARCHED.search(output)
    fault = next((line.removeprefix("fault: ") for line in output.splitlines() if line.startswith("fault: ")), "")
    if not fault and (status != 0 or said is None or said[2] != "complete"):
        fault = f"the search was not complete (status {status})"
    return Searched(text, int(said[1]) if said else 0, fault, frozenset(_REACHED.findall(output)))


def why_no_testers() -> str:
    """Why gem5's testers cannot run here, in a sentence; empty if they can."""
    try:
        gem5 = find()
    except Failure as failure:
        return failure.unless_interrupted().what
    return "" if gem5.protocol == PROTOCOL else f"The gem5 of the settings was built for {gem5.protocol}, not {PROTOCOL}."


def _test(arguments: argparse.Namespace, folder: Path) -> list[Tested]:
    accesses = arguments.accesses or (_QUICK_ACCESSES if arguments.quick else _ACCESSES)
    seeds = arguments.seeds or (_QUICK_SEEDS if arguments.quick else _SEEDS)
    share = max(1, accesses // (len(_KINDS) * seeds * len(_SHAPES)))
    wanted = [
        (kind, sockets, cores, seed)
        for seed in range(1, seeds + 1)
        for sockets, cores in _SHAPES
        for kind in _KINDS
        if (kind, cores) != ("random", 1)  # RubyTester stores by one core what another reads
    ]
    binary = find().binary
    done: list[Tested] = []
    with step(f"{len(wanted)} testers") as current, ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for one in pool.map(lambda each: _tester(binary, each, share, folder), wanted):
            done.append(one)
            current.note = f"{len(done)} done"
            if one.fault:
                sys.stderr.write(f"{one.kind} {one.sockets}x{one.cores}, seed {one.seed}: {one.fault}\n")
    return done


def _tester(binary: Path, named: tuple[str, int, int, int], share: int, folder: Path, fault: str = "") -> Tested:
    """Run one; MemTest's loads and LockTester's operations are of each core."""
    kind, sockets, cores, seed = named
    out = folder / "-".join(filter(None, (kind, f"{sockets}x{cores}", str(seed), fault)))
    size = {
        "random": [f"--checks={share}"],
        "memory": [f"--loads={max(1, share // (sockets * cores + _DEVICES))}", f"--devices={_DEVICES}"],
        "locks": [f"--operations={max(1, share // (sockets * cores))}", f"--devices={_DEVICES}", f"--fault={fault}"],
    }
    shape = [f"--sockets={sockets}", f"--cores={cores}", f"--seed={seed}", f"--machine={_MACHINES[(seed - 1) % len(_MACHINES)]}"]
    command = [str(binary), f"--outdir={out}", str(CONFIGS / "test_protocol.py"), kind, *shape, *size[kind]]
    out.mkdir()
    with open(out / "log.txt", "wb") as log:
        status = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=False).returncode
    statistics = out / "stats.txt"
    return tested_of(
        named,
        status,
        (out / "log.txt").read_text(encoding="utf-8", errors="replace"),
        statistics.read_text(encoding="utf-8") if statistics.is_file() else "",
        share,
    )


def _seed(fault: str, folder: Path) -> str:
    """What LockTester says of a fault in its own traffic; empty if it does not see it."""
    with step(f"Seeded fault {fault}"):
        return _tester(find().binary, ("locks", 2, 2, 1), 4 * _SEEDED_OPERATIONS, folder, fault).fault


def tested_of(named: tuple[str, int, int, int], status: int, log: str, statistics: str, wanted: int) -> Tested:
    """A tester's run from its exit status, what it printed and gem5's statistics.

    RubyTester does as many checks as it was asked for or fails; the others count what they did.
    """
    met = Counter[Pair]()
    for machine, state, event, count in _MET.findall(statistics):
        met[machine, state, event] += int(count)
    ended = _ENDED.search(log)
    fault = ""
    if status != 0 or ended is None or not met:
        died = diagnosis(log)
        fault = died.what if died else f"gem5 ended with status {status} and {'no' if ended is None else 'an'} end of the test"
    counted = sum(map(int, _CHECKS.findall(statistics)))
    return Tested(*named, 0 if fault else counted or wanted, fault, met)


def pairs_of_the_source() -> set[Pair] | None:
    """Every pair that the protocol's source has, as SLICC reads it; None where there is no source of gem5 with SLICC."""
    spec = importlib.util.spec_from_file_location("protocol_tables", CONFIGS / "protocol" / "tables.py")
    assert spec is not None and spec.loader is not None
    tables = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = tables
    spec.loader.exec_module(tables)
    try:
        source = Path(os.environ.get("GEM5_SOURCE") or find().binary.resolve().parents[2])
    except Failure:
        return None
    if not tables.has_slicc(source):
        return None
    return {(machine.name, *pair) for machine in tables.machines(source) for pair in machine.pairs()}


def judge(
    searched: Sequence[Searched],
    tested: Sequence[Tested],
    written: set[Pair] | None,
    left_out: str,
    seeded: Mapping[str, str] | None = None,
    whole: bool = False,
) -> Check:
    """No search and no tester found a fault but the ``seeded`` ones; prints the tables.

    Of a ``whole`` run there is no pair of the source that no tester met and no search reached.
    """
    if searched:
        console().print(_search_table(searched))
    met = sum((one.met for one in tested), Counter[Pair]())
    reached = frozenset[Pair]().union(*(one.pairs for one in searched))
    if tested:
        console().print(_tester_table(tested))
        console().print(_coverage_table(met, written, reached))
    if seeded:
        console().print(_seeded_table(seeded))
    faults = [f"search {one.text}: {one.fault}" for one in searched if one.fault]
    faults += [f"{one.kind} {one.sockets}x{one.cores} seed {one.seed}: {one.fault}" for one in tested if one.fault]
    faults += [f"the seeded fault {name} was not found" for name, said in (seeded or {}).items() if not said]
    missed = (pair for pair in written or () if not met[pair] and pair not in reached and pair not in OUT_OF_REACH)
    never = sorted(missed) if tested and searched else []
    strange = (pair for pair in OUT_OF_REACH if met[pair] or pair in reached)
    faults += [f"{' '.join(pair)} was met, and nothing should come to it" for pair in strange]
    if whole:
        faults += [f"{' '.join(pair)} was met by no tester and no search" for pair in never]
    accesses = sum(one.accesses for one in tested)
    figure = f"{NAME}: {sum(one.worlds for one in searched):,} worlds of {len(searched)} machines searched, "
    if left_out:
        figure += f"gem5's testers left out ({left_out.rstrip('.')}), "
    elif tested:
        seen = sum(count > 0 for pair, count in met.items() if written is None or pair in written)
        of = f" of {len(written)}" if written is not None else ""
        figure += f"{accesses:,} accesses by {len(tested)} random testers met {seen}{of} transitions, "
        figure += f"{len(never)} others were met neither there nor in a search, " if searched and written is not None else ""
    figure += f"{len(faults)} faults{': ' + '; '.join(faults) if faults else ''}; wanted: none"
    return Check(not faults, figure, len(searched) + len(tested))


def _search_table(searched: Sequence[Searched]) -> Table:
    table = Table("sockets, cores, with", title="Searches: one line, every order of messages", title_justify="left")
    table.add_column("worlds", justify="right")
    table.add_column("result")
    for one in searched:
        table.add_row(one.text, f"{one.worlds:,}", one.fault or "no fault")
    return table


def _tester_table(tested: Sequence[Tested]) -> Table:
    table = Table("tester", "sockets x cores", title="Random testers", title_justify="left")
    for heading in ("seeds", "accesses", "faults"):
        table.add_column(heading, justify="right")
    for kind, sockets, cores in dict.fromkeys((one.kind, one.sockets, one.cores) for one in tested):
        own = [one for one in tested if (one.kind, one.sockets, one.cores) == (kind, sockets, cores)]
        accesses = f"{sum(one.accesses for one in own):,}"
        table.add_row(kind, f"{sockets} x {cores}", str(len(own)), accesses, str(sum(bool(one.fault) for one in own)))
    return table


def _seeded_table(seeded: Mapping[str, str]) -> Table:
    table = Table("in LockTester's traffic", "what it said", title="Seeded faults", title_justify="left")
    for name, said in seeded.items():
        table.add_row(name, said or "nothing")
    return table


def _coverage_table(met: Counter[Pair], written: set[Pair] | None, reached: frozenset[Pair]) -> Table:
    table = Table("machine type", title="Pairs of state and event", title_justify="left")
    for heading in ("in the source", "met"):
        table.add_column(heading, justify="right")
    for heading in ("not met, but reached by a search", "out of reach", "none of these"):
        table.add_column(heading)
    for machine in sorted({pair[0] for pair in written or met}):
        own = {pair for pair in written or met if pair[0] == machine}
        seen = {pair for pair in own if met[pair]}
        excused = own & set(OUT_OF_REACH)
        others = (own - seen) & reached, excused, own - seen - reached - excused
        names = [", ".join(f"{state} {event}" for _, state, event in sorted(pairs)) for pairs in others]
        table.add_row(machine, str(len(own)) if written is not None else "not known", str(len(seen)), *names)
    return table
