# SPDX-License-Identifier: BSD-3-Clause
"""Machines: the description of simulated hardware that both engines read.

A machine is a TOML file whose tables only group its keys; every key has its own name, with the unit in it, so that
``--set l2_kib=1024`` needs no table. ``machines/schema.toml`` says what each key is and can be (`harness.spec.machine_schema`);
what keys say about each other is here, and what follows from them. The engines read "key value" lines (`Machine.flat`).
"""

import itertools
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any

from common.once import remembered
from common.outcome import Failure, bad_input
from common.paths import MACHINES
from harness.spec.machine_schema import SCHEMA, Links, schema, text

MAXIMUM_CORES = 64  # sets of cores are 64-bit masks in the records
MAXIMUM_L1_SETS = 1024  # size of the fast engine's inline filter
MAXIMUM_MIB = 1 << 18  # numbers of 64-byte lines have 32 bits, of which the last two stand for none
_GEM5_TLB_ENTRIES = 64  # of the processors that boot in gem5, whose TLBs are restored into those that measure
DEFAULT_ENGINE = "fast"
# Models of a core that an engine has.
_CORES = {"fast": ("in-order", "interval"), "gem5": ("in-order", "o3")}
ENGINES = tuple(_CORES)
# ACPI distances: 10 is local by definition of the table; a hop adds what makes Linux see three different distances below 30, from
# where on it reclaims memory of its own node first.
_LOCAL_DISTANCE = 10
_HOP_DISTANCE = 6


@dataclass(frozen=True)
class Machine:
    """A valid machine. The fields are the keys of the schema in its order, of the types that their ranges read (a test holds them
    to it)."""

    name: str
    sockets: int
    cores_per_socket: int
    clock_ghz: float
    core: str
    caches_from: str
    windows: int
    window_cycles: int
    window_lead_cycles: int
    issue_width: int
    jump_cycles: float
    serializing_cycles: int
    window_instructions: int
    hidden_cycles: int
    outstanding_misses: int
    outstanding_stores: int
    code_prefetch_lines: int
    store_buffer_entries: int
    line_bytes: int
    l1d_kib: int
    l1d_ways: int
    l1i_kib: int
    l1i_ways: int
    l1_cycles: int
    atomic_cycles: int
    pause_cycles: int
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
    node_mib: int
    interleave: str
    dram_gbytes_per_second: float
    tlb_entries: int
    links: Links
    link_gbytes_per_second: float
    disk_latency_us: int
    disk_mbytes_per_second: int
    nic_queues: int
    nic_limits: int
    nic_receive_mpps_1_queue: float
    nic_receive_mpps_many_queues: float
    nic_receive_many_queues: int
    nic_transmit_mpps_1_queue: float
    nic_transmit_mpps_many_queues: float
    nic_transmit_many_queues: int
    nic_fifo_kib: int
    nic_link_gbits_per_second: float
    nic_wire_delay_ns: int
    nic_doorbell_ns: int
    nic_register_read_ns: int
    nic_register_write_ns: int
    sample_period_cycles: int
    chain_period_transfers: int
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

    def miss_cycles(self, socket: int, home: int) -> int:
        """The same of a line that no cache has. Without a probe filter the core waits for the answers of all sockets too."""
        read = self.memory_cycles(socket, home)
        return read if self.probe_filter_kib else max(read, self._last_answer_cycles(socket, home))

    def _last_answer_cycles(self, socket: int, home: int) -> int:
        """Until the last socket has answered a probe of ``home``."""
        return max(self.transfer_from(socket, home, asked) for asked in range(self.sockets))

    def transfer_from(self, socket: int, home: int, owner: int) -> int:
        """Round trip of a core on ``socket`` to a line of memory of ``home`` that a core on ``owner`` has.

        Nothing else is under way; half a cycle counts as one.
        """
        return self.transfer_cycles + (self.hop_cycles * self.legs(socket, home, owner) + 1) // 2

    def legs(self, socket: int, home: int, owner: int) -> int:
        """Links that the request to ``home``, its probe and the owner's answer pass."""
        return self.hops[socket][home] + self.hops[home][owner] + self.hops[owner][socket]

    @property
    def node_distances(self) -> tuple[tuple[int, ...], ...]:
        """``node_distances[a][b]``: what ACPI tells the guest of the way from socket a to socket b."""
        return tuple(tuple(_LOCAL_DISTANCE + _HOP_DISTANCE * hops for hops in row) for row in self.hops)

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
        return {field.name: text(getattr(self, field.name)) for field in sorted(fields(self), key=lambda f: f.name)}

    def identity(self) -> dict[str, str]:
        """`values` without late keys that have their default, so that points keep their names where a key is added."""
        late = {key.name: text(key.default) for key in schema().keys.values() if key.late and key.default is not None}
        return {name: value for name, value in self.values().items() if late.get(name) != value}

    def resolved(self) -> dict[str, str]:
        """What follows from the keys and engines are told: name -> value as text. Tables are row after row."""
        sockets = range(self.sockets)
        whole = {
            "l1d_sets": _sets(self.l1d_kib, self.l1d_ways, self.line_bytes),
            "l1i_sets": _sets(self.l1i_kib, self.l1i_ways, self.line_bytes),
            "l2_sets": _sets(self.l2_kib, self.l2_ways, self.line_bytes),
            "l3_sets": _sets(self.l3_kib, self.l3_ways, self.line_bytes),
            "l3_line_ways": self.l3_ways * (self.l3_kib - self.probe_filter_kib) // self.l3_kib,
            "probe_filter_sets": _sets(self.probe_filter_kib, self.probe_filter_ways, self.probe_filter_entry_bytes),
        }
        tables = {
            "hops": self.hops,
            "memory_cycles": tuple(tuple(self.memory_cycles(socket, home) for home in sockets) for socket in sockets),
            "node_distances": self.node_distances,
        }
        flat = {name: " ".join(str(value) for row in table for value in row) for name, table in tables.items()}
        return {name: str(value) for name, value in whole.items()} | flat

    def flat(self, engine: str) -> str:
        """The machine file of ``engine``: a "key value" line for each key and resolved value that it takes, sorted.

        Raises:
            Failure: bad-input, see `check_engine`.
        """
        check_engine(self, engine)
        values = self.values() | self.resolved()
        return "".join(f"{name} {values[name]}\n" for name in schema().of_engine(engine))


def names() -> list[str]:
    """Names of the machines that come with the project."""
    return sorted(path.stem for path in MACHINES.glob("*.toml") if path != SCHEMA)


def load(name_or_path: str, overrides: Mapping[str, str] | None = None, engine: str = DEFAULT_ENGINE) -> Machine:
    """Read a machine by name (see `names`) or path, with single keys overridden and the defaults that ``engine`` has.

    Where ``sockets`` is overridden and ``links`` are not, the links of sockets that are no more there go with them.

    Raises:
        Failure: bad-input, naming file, key, value and allowed range.
    """
    return _load(name_or_path, tuple((overrides or {}).items()), engine)


@remembered
def _load(name_or_path: str, overrides: tuple[tuple[str, str], ...], engine: str) -> Machine:
    path = _path(name_or_path)
    given = _read(path)
    origin = dict.fromkeys(given, str(path))
    changes = dict(overrides)
    if "sockets" in changes and "links" not in changes and _lose_links(given, changes["sockets"]):
        origin["links"] = f"{path} with --set sockets={changes['sockets']}"
    given |= changes
    origin |= dict.fromkeys(changes, f"{path} with --set")
    defaults = schema().defaults(engine)
    return _validated(defaults | given, dict.fromkeys(defaults, str(SCHEMA)) | origin, str(path))


def from_values(values: Mapping[str, object], origin: str) -> Machine:
    """A machine from all its keys, as `Machine.values` or a point.toml has them; ``origin`` names the file in errors.

    A file that was written before there was a late key means its default.
    """
    late = {key.name: key.default for key in schema().keys.values() if key.late and key.default is not None}
    return _validated(late | dict(values), dict.fromkeys([*late, *values], origin), origin)


def sources(name_or_path: str, overrides: Mapping[str, str]) -> dict[str, str]:
    """Where the value of each key comes from: the comment beside it in the machine file, "default" or "--set".

    A key whose line has no comment is left out.
    """
    found = dict.fromkeys(schema().defaults(DEFAULT_ENGINE), "default")
    path = _path(name_or_path)
    given = _read(path)
    for key in given:
        found.pop(key, None)
    for line in path.read_text(encoding="utf-8").splitlines():
        if said := re.fullmatch(r"\s*(\w+)\s*=[^#]*#\s*(.*?)\s*", line):
            found[said[1]] = said[2]
    if "sockets" in overrides and _lose_links(given, overrides["sockets"]):
        found["links"] = "--set sockets: without the links of sockets that are not there"
    return found | dict.fromkeys(overrides, "--set")


def require_engine(name: str) -> None:
    """
    Raises:
        Failure: bad-input, where there is no such engine.
    """
    if name not in _CORES:
        raise bad_input(f"There is no engine {name!r}.", f"Use {' or '.join(_CORES)}.")


def check_engine(machine: Machine, engine: str) -> None:
    """Refuse a machine that ``engine`` cannot be.

    Raises:
        Failure: bad-input, naming key, value and what the engine can be, or the engines where it is none.
    """
    require_engine(engine)
    for key, allowed in _limits(machine, engine):
        raise _out_of_range(f"machine {machine.name} on engine {engine}", key, text(getattr(machine, key)), allowed)


def _limits(m: Machine, engine: str) -> Iterator[tuple[str, str]]:
    """What ``engine`` cannot be of the machine: (key, what is allowed)."""
    if m.core not in _CORES[engine]:
        yield "core", " or ".join(_CORES[engine])
    if m.windows and engine != "gem5":
        yield "windows", "0: it can measure all of a region"
    if m.windows and m.core == "o3":
        yield "windows", "0 with core = o3: the instructions of programs are counted where they execute in order"
    if engine == "gem5" and m.tlb_entries < _GEM5_TLB_ENTRIES:
        yield "tlb_entries", f"{_GEM5_TLB_ENTRIES} or more"
    if engine == "fast" and not _is_power_of_two(m.tlb_entries):
        yield "tlb_entries", "a power of two: a page's number less the bits above is its place"
    if engine == "gem5" and m.interleave == "line" and not _is_power_of_two(m.sockets):
        yield "interleave", f"node, with sockets = {m.sockets}: gem5 lets lines go round a power of two of sockets"


def _path(name_or_path: str) -> Path:
    path = Path(name_or_path) if name_or_path.endswith(".toml") else MACHINES / f"{name_or_path}.toml"
    if not path.is_file() or path == SCHEMA:
        raise bad_input(
            f"There is no machine {name_or_path!r}.", f"Use one of {', '.join(names())}, or the path of a .toml file."
        )
    return path


def _read(path: Path) -> dict[str, object]:
    """The keys of a machine file as TOML has them."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise bad_input(f"{path} is not a TOML file: {error}.", "Correct the line.") from error
    given: dict[str, object] = {}
    for key, value in _ungrouped(document):
        if key in given:
            raise bad_input(f"{path}: key {key} is there twice.", "Keep one of them.")
        given[key] = value
    return given


def _ungrouped(document: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    for key, value in document.items():
        if isinstance(value, dict):
            yield from value.items()
        else:
            yield key, value


def _lose_links(given: dict[str, object], sockets: str) -> bool:
    """Take the links out of ``given`` that only ``sockets`` sockets do not have any more; whether there were some."""
    keys = schema().keys
    try:
        before, after = (keys["sockets"].range.read(value) for value in (given.get("sockets"), sockets))
        links = keys["links"].range.read(given.get("links"))
    except ValueError:
        return False  # what is wrong is told when all keys are looked at
    assert isinstance(before, int) and isinstance(after, int) and isinstance(links, tuple)
    kept = tuple(pair for pair in links if not after <= pair[1] < before)
    given["links"] = text(kept)
    return kept != links


def _validated(given: Mapping[str, object], origin: Mapping[str, str], path: str) -> Machine:
    keys = schema().keys
    values: dict[str, Any] = {}
    for name, value in given.items():
        if name not in keys:
            raise bad_input(f"{origin[name]}: {name} is not a key of a machine.", f"The keys are {', '.join(keys)}.")
        try:
            values[name] = keys[name].range.read(value)
        except ValueError:
            raise _out_of_range(origin[name], name, value, str(keys[name].range)) from None
    for key in keys.values():
        if key.name not in values:
            raise bad_input(f"{path}: key {key.name} is missing.", f"Give it {key.range}.")
    machine = Machine(**values)
    for name, allowed in _relations(machine):
        raise _out_of_range(origin[name], name, text(values[name]), allowed)
    return machine


def _out_of_range(origin: str, key: str, value: object, allowed: str) -> Failure:
    shown = "nothing" if value in ("", []) else value
    return bad_input(f"{origin}: {key} = {shown} is out of range.", f"Allowed is {allowed}.")


def _relations(m: Machine) -> Iterator[tuple[str, str]]:
    """Violated relations between keys: (key, what is allowed)."""
    if m.cores > MAXIMUM_CORES:
        yield (
            "cores_per_socket",
            f"at most {MAXIMUM_CORES // m.sockets} with sockets = {m.sockets} ({MAXIMUM_CORES} cores in all)",
        )
    if m.memory_mib >= MAXIMUM_MIB:
        allowed = (MAXIMUM_MIB - 1) // m.sockets
        yield "node_mib", f"at most {allowed} with sockets = {m.sockets} (less than {MAXIMUM_MIB} MiB in all)"
    yield from _shape("l1d_kib", m.l1d_kib, m.l1d_ways, m.line_bytes, MAXIMUM_L1_SETS)
    yield from _shape("l1i_kib", m.l1i_kib, m.l1i_ways, m.line_bytes, MAXIMUM_L1_SETS)
    yield from _shape("l2_kib", m.l2_kib, m.l2_ways, m.line_bytes, 1 << 20)
    yield from _shape("l3_kib", m.l3_kib, m.l3_ways, m.line_bytes, 1 << 20)
    yield from _latencies(m)
    if m.probe_filter_kib >= m.l3_kib or m.probe_filter_kib * m.l3_ways % m.l3_kib:
        yield "probe_filter_kib", f"a multiple of {m.l3_kib // m.l3_ways} (one way of the L3) below l3_kib = {m.l3_kib}"
    if m.probe_filter_kib:
        yield from _shape("probe_filter_kib", m.probe_filter_kib, m.probe_filter_ways, m.probe_filter_entry_bytes, 1 << 24)
    yield from _card(m)
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


def _card(m: Machine) -> Iterator[tuple[str, str]]:
    """The card is not quicker with many queues in use than with one."""
    for way in ("receive", "transmit"):
        one, many = f"nic_{way}_mpps_1_queue", f"nic_{way}_mpps_many_queues"
        if getattr(m, many) > getattr(m, one):
            yield many, f"at most {one} = {text(getattr(m, one))}"


def _shape(key: str, kib: int, ways: int, entry_bytes: int, most: int) -> Iterator[tuple[str, str]]:
    """The number of sets is a power of two, not above ``most``."""
    sets = _sets(kib, ways, entry_bytes)
    if kib * 1024 != sets * ways * entry_bytes or not _is_power_of_two(sets) or sets > most:
        rule = f"{key} x 1024 / ({key.replace('_kib', '_ways')} = {ways} x {entry_bytes} bytes)"
        yield key, f"a size that makes the number of sets ({rule}) a power of two, at most {most}"


def _sets(kib: int, ways: int, entry_bytes: int) -> int:
    return kib * 1024 // (ways * entry_bytes)


def _is_power_of_two(number: int) -> bool:
    return number > 0 and number.bit_count() == 1
