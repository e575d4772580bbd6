# SPDX-License-Identifier: BSD-3-Clause
"""Machines: the description of simulated hardware that both engines read.

A machine is a TOML file whose tables only group its keys; every key has its own name, with the unit in it, so that
``--set l2_kib=1024`` needs no table. The engines read the resolved machine as "key value" lines (`Machine.flat`).
"""

import itertools
import math
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any

from common.outcome import Failure, bad_input
from common.paths import MACHINES

MAXIMUM_CORES = 64  # sets of cores are 64-bit masks in the records
MAXIMUM_MIB = 1 << 18  # numbers of 64-byte lines have 32 bits


@dataclass(frozen=True)
class Whole:
    """Range of a whole-number key, both ends included."""

    low: int
    high: int

    def __str__(self) -> str:
        return f"a whole number from {self.low} to {self.high}"

    def read(self, value: object) -> int:
        number = int(value) if isinstance(value, str) else value
        if not isinstance(number, int) or isinstance(number, bool) or not self.low <= number <= self.high:
            raise ValueError
        return number


@dataclass(frozen=True)
class Real:
    """Range of a real-number key, both ends included."""

    low: float
    high: float

    def __str__(self) -> str:
        return f"a number from {self.low:g} to {self.high:g}"

    def read(self, value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise ValueError
        number = float(value)
        if not self.low <= number <= self.high:
            raise ValueError
        return number


@dataclass(frozen=True)
class Choice:
    """A key with a few words as values."""

    words: tuple[str, ...]

    def __str__(self) -> str:
        return "one of " + ", ".join(self.words)

    def read(self, value: object) -> str:
        if value not in self.words:
            raise ValueError
        return str(value)


@dataclass(frozen=True)
class Name:
    """A name that may be part of a file name."""

    def __str__(self) -> str:
        return "letters, digits, '-', '_' and '.'"

    def read(self, value: object) -> str:
        if not isinstance(value, str) or not value or not all(c.isalnum() or c in "-_." for c in value) or value[0] == ".":
            raise ValueError
        return value


@dataclass(frozen=True)
class SocketPairs:
    """The links: a TOML list of "a-b", or text with the pairs separated by spaces or commas. May be empty for one socket."""

    def __str__(self) -> str:
        return 'pairs of different sockets, lower number first, each once, such as "0-1"'

    def read(self, value: object) -> tuple[tuple[int, int], ...]:
        words = value.replace(",", " ").split() if isinstance(value, str) else value
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise ValueError
        pairs = []
        for word in words:
            low, _, high = word.partition("-")
            if not (low.isdecimal() and high.isdecimal() and int(low) < int(high)):
                raise ValueError
            pairs.append((int(low), int(high)))
        if len(set(pairs)) != len(pairs):
            raise ValueError
        return tuple(sorted(pairs))


Range = Whole | Real | Choice | Name | SocketPairs

RANGES: Mapping[str, Range] = {
    "name": Name(),
    "sockets": Whole(1, 8),
    "cores_per_socket": Whole(1, MAXIMUM_CORES),
    "clock_ghz": Real(0.1, 10),
    "line_bytes": Whole(64, 64),
    "l1d_kib": Whole(1, 1024),
    "l1d_ways": Whole(1, 16),
    "l1i_kib": Whole(1, 1024),
    "l1i_ways": Whole(1, 16),
    "l1_cycles": Whole(1, 100),
    "atomic_cycles": Whole(1, 1000),
    "l2_kib": Whole(1, 65536),
    "l2_ways": Whole(1, 64),
    "l2_cycles": Whole(1, 1000),
    "l3_kib": Whole(2, 1048576),
    "l3_ways": Whole(2, 128),
    "l3_cycles": Whole(1, 1000),
    "probe_filter_kib": Whole(1, 1048576),
    "probe_filter_ways": Whole(1, 16),
    "probe_filter_entry_bytes": Whole(1, 64),
    "dram_local_cycles": Whole(1, 10000),
    "hop_cycles": Whole(1, 10000),
    "transfer_cycles": Whole(1, 10000),
    "read_busy_cycles": Whole(1, 10000),
    "links": SocketPairs(),
    "link_gbytes_per_second": Real(0.01, 10000),
    "dram_gbytes_per_second": Real(0.01, 10000),
    "node_mib": Whole(64, 65536),
    "interleave": Choice(("node", "line")),
    "tlb_entries": Whole(1, 65536),
    "disk_latency_us": Whole(0, 1000000),
    "disk_mbytes_per_second": Whole(1, 100000),
    "sample_period_cycles": Whole(100, 1000000000),
    "count_hits": Whole(0, 1),
}
"""Every key of a machine and its range by itself; `_relations` checks what keys say about each other."""


@dataclass(frozen=True)
class Machine:
    """A valid machine. The fields are the keys of the file (`RANGES`), of the types that the ranges read."""

    name: str
    sockets: int
    cores_per_socket: int
    clock_ghz: float
    line_bytes: int
    l1d_kib: int
    l1d_ways: int
    l1i_kib: int
    l1i_ways: int
    l1_cycles: int
    atomic_cycles: int
    l2_kib: int
    l2_ways: int
    l2_cycles: int
    l3_kib: int
    l3_ways: int
    l3_cycles: int
    probe_filter_kib: int
    probe_filter_ways: int
    probe_filter_entry_bytes: int
    dram_local_cycles: int
    hop_cycles: int
    transfer_cycles: int
    read_busy_cycles: int
    links: tuple[tuple[int, int], ...]
    link_gbytes_per_second: float
    dram_gbytes_per_second: float
    node_mib: int
    interleave: str
    tlb_entries: int
    disk_latency_us: int
    disk_mbytes_per_second: int
    sample_period_cycles: int
    count_hits: int

    @property
    def cores(self) -> int:
        return self.sockets * self.cores_per_socket

    @property
    def memory_mib(self) -> int:
        return self.sockets * self.node_mib

    @property
    def core_counts(self) -> list[int]:
        """Numbers of cores to look at by default: one core; one, two, four, ... sockets; the whole machine."""
        counts = {1, self.cores}
        sockets = 1
        while sockets * 2 <= self.sockets:
            counts.add(sockets * self.cores_per_socket)
            sockets *= 2
        return sorted(counts)

    def socket(self, core: int) -> int:
        """Socket of a core: cores are numbered socket after socket."""
        return core // self.cores_per_socket

    @cached_property
    def hops(self) -> tuple[tuple[int, ...], ...]:
        """``hops[a][b]``: links on a shortest way from socket a to socket b; -1 if there is none."""
        return tuple(self._distances(start) for start in range(self.sockets))

    def _distances(self, start: int) -> tuple[int, ...]:
        distance = {start: 0}
        frontier = [start]
        for here in frontier:  # breadth first: the list grows while it is walked
            for pair in self.links:
                if here in pair:
                    there = pair[0] + pair[1] - here
                    if there not in distance:
                        distance[there] = distance[here] + 1
                        frontier.append(there)
        return tuple(distance.get(socket, -1) for socket in range(self.sockets))

    def memory_cycles(self, socket: int, home: int) -> int:
        """Round trip of a core on ``socket`` to memory of ``home`` with nothing else under way."""
        return self.dram_local_cycles + self.hop_cycles * self.hops[socket][home]

    def core_list(self, count: int, order: str) -> tuple[int, ...]:
        """Numbers of the ``count`` cores in use: ``seq`` fills a socket before the next, ``rr`` takes one of each socket in turn.

        Raises:
            Failure: bad-input, when the machine has fewer cores or the order is another word.
        """
        if not 1 <= count <= self.cores:
            raise bad_input(
                f"cores = {count} does not fit machine {self.name}: allowed is 1 to {self.cores}.",
                "Give fewer cores or another machine.",
            )
        if order == "seq":
            return tuple(range(count))
        if order == "rr":
            spread = [s * self.cores_per_socket + i for i in range(self.cores_per_socket) for s in range(self.sockets)]
            return tuple(sorted(spread[:count]))
        raise bad_input(f"Core order {order!r} is unknown.", "Use seq (fill a socket first) or rr (spread over the sockets).")

    def values(self) -> dict[str, str]:
        """Key -> value as text, sorted by key; `load` reads these values back as overrides."""
        return {field.name: _text(getattr(self, field.name)) for field in sorted(fields(self), key=lambda f: f.name)}

    def flat(self) -> str:
        """The machine as the engines read it: one "key value" line per key, sorted; links as "0-1 0-2 ..."."""
        return "".join(f"{key} {value}\n" for key, value in self.values().items())


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return " ".join(f"{low}-{high}" for low, high in value)
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def names() -> list[str]:
    """Names of the machines that come with the project."""
    return sorted(path.stem for path in MACHINES.glob("*.toml"))


def load(name_or_path: str, overrides: Mapping[str, str] | None = None) -> Machine:
    """Read a machine by name (see `names`) or path, with single keys overridden.

    Raises:
        Failure: bad-input, naming file, key, value and allowed range.
    """
    path = Path(name_or_path) if name_or_path.endswith(".toml") else MACHINES / f"{name_or_path}.toml"
    if not path.is_file():
        raise bad_input(
            f"There is no machine {name_or_path!r}.", f"Use one of {', '.join(names())}, or the path of a .toml file."
        )
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise bad_input(f"{path} is not a TOML file: {error}.", "Correct the line.") from error
    given: dict[str, object] = {}
    for key, value in _ungrouped(document):
        if key in given:
            raise bad_input(f"{path}: key {key} is there twice.", "Keep one of them.")
        given[key] = value
    origin = dict.fromkeys(given, str(path))
    for key, text in (overrides or {}).items():
        given[key] = text
        origin[key] = f"{path} with --set"
    return _validated(given, origin, str(path))


def from_values(values: Mapping[str, object], origin: str) -> Machine:
    """A machine from all its keys, as `Machine.values` or a point.toml has them; ``origin`` names the file in errors."""
    return _validated(values, dict.fromkeys(values, origin), origin)


def _ungrouped(document: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    for key, value in document.items():
        if isinstance(value, dict):
            yield from value.items()
        else:
            yield key, value


def _validated(given: Mapping[str, object], origin: Mapping[str, str], path: str) -> Machine:
    values: dict[str, Any] = {}
    for key, value in given.items():
        if key not in RANGES:
            raise bad_input(f"{origin[key]}: {key} is not a key of a machine.", f"The keys are {', '.join(RANGES)}.")
        try:
            values[key] = RANGES[key].read(value)
        except ValueError:
            raise _out_of_range(origin[key], key, value, str(RANGES[key])) from None
    missing = [key for key in RANGES if key not in values]
    if missing:
        key = missing[0]
        raise bad_input(f"{path}: key {key} is missing.", f"Give it {RANGES[key]}.")
    machine = Machine(**values)
    for key, allowed in _relations(machine):
        raise _out_of_range(origin[key], key, _text(values[key]), allowed)
    return machine


def _out_of_range(origin: str, key: str, value: object, allowed: str) -> Failure:
    return bad_input(f"{origin}: {key} = {value} is out of range.", f"Allowed is {allowed}.")


def _relations(m: Machine) -> Iterator[tuple[str, str]]:
    """Violated relations between keys: (key, what is allowed)."""
    if m.cores > MAXIMUM_CORES:
        yield (
            "cores_per_socket",
            f"at most {MAXIMUM_CORES // m.sockets} with sockets = {m.sockets} ({MAXIMUM_CORES} cores in all)",
        )
    if m.memory_mib > MAXIMUM_MIB:
        yield "node_mib", f"at most {MAXIMUM_MIB // m.sockets} with sockets = {m.sockets} ({MAXIMUM_MIB} MiB in all)"
    for key, kib, ways in (
        ("l1d_kib", m.l1d_kib, m.l1d_ways),
        ("l1i_kib", m.l1i_kib, m.l1i_ways),
        ("l2_kib", m.l2_kib, m.l2_ways),
    ):
        most = 1024 if key.startswith("l1") else 1 << 20  # the former is the size of the inline filter's tables
        yield from _sets(key, kib * 1024, ways, m.line_bytes, most)
    yield from _sets("l3_kib", m.l3_kib * 1024, m.l3_ways, m.line_bytes, 1 << 20)
    yield from _latencies(m)
    if m.probe_filter_kib >= m.l3_kib or m.probe_filter_kib * m.l3_ways % m.l3_kib:
        yield "probe_filter_kib", f"a multiple of {m.l3_kib // m.l3_ways} (one way of the L3) below l3_kib = {m.l3_kib}"
    yield from _sets("probe_filter_kib", m.probe_filter_kib * 1024, m.probe_filter_ways, m.probe_filter_entry_bytes, 1 << 24)
    for pair in m.links:
        if pair[1] >= m.sockets:
            yield "links", f"pairs of sockets from 0 to {m.sockets - 1}"
    if any(distance < 0 for row in m.hops for distance in row):
        yield "links", f"a set of pairs that connects all {m.sockets} sockets"


def _latencies(m: Machine) -> Iterator[tuple[str, str]]:
    order = ("l1_cycles", "l2_cycles", "l3_cycles", "dram_local_cycles")
    for nearer, farther in itertools.pairwise(order):
        if getattr(m, farther) < getattr(m, nearer):
            yield farther, f"at least {nearer} = {getattr(m, nearer)}"
    if m.atomic_cycles < m.l1_cycles:
        yield "atomic_cycles", f"at least l1_cycles = {m.l1_cycles}"
    if m.transfer_cycles < m.l3_cycles:
        yield "transfer_cycles", f"at least l3_cycles = {m.l3_cycles}"


def _sets(key: str, size: int, ways: int, entry_bytes: int, most: int) -> Iterator[tuple[str, str]]:
    """The number of sets is a power of two, not above ``most``."""
    sets, rest = divmod(size, ways * entry_bytes)
    if rest or sets < 1 or not math.log2(sets).is_integer() or sets > most:
        rule = f"{key} x 1024 / ({key.replace('_kib', '_ways')} = {ways} x {entry_bytes} bytes)"
        yield key, f"a size that makes the number of sets ({rule}) a power of two, at most {most}"
