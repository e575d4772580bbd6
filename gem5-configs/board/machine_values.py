# SPDX-License-Identifier: BSD-3-Clause
"""The machine, as the "key value" lines that ``run.py machine show`` and every run directory have (engine/machine.conf)."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path


@dataclass(frozen=True)
class Machine:
    """What the board takes from a machine file; units are in the names, cycles are core cycles, latencies round trips."""

    name: str
    sockets: int
    cores_per_socket: int
    clock_ghz: float
    l1d_kib: int
    l1d_ways: int
    l1i_kib: int
    l1i_ways: int
    l1_cycles: int
    atomic_cycles: int
    l2_kib: int
    l2_ways: int
    l2_cycles: int
    probe_filter_kib: int
    probe_filter_ways: int
    probe_filter_entry_bytes: int
    dram_local_cycles: int
    hop_cycles: int
    transfer_cycles: int
    links: tuple[tuple[int, int], ...]
    link_gbytes_per_second: float
    dram_gbytes_per_second: float
    node_mib: int
    interleave: str
    tlb_entries: int
    disk_latency_us: int
    sample_period_cycles: int

    @property
    def cores(self) -> int:
        return self.sockets * self.cores_per_socket

    def socket(self, core: int) -> int:
        """Socket of a core: cores are numbered socket after socket."""
        return core // self.cores_per_socket

    @cached_property
    def hops(self) -> tuple[tuple[int, ...], ...]:
        """``hops[a][b]``: links on a shortest way from socket a to socket b. Every socket reaches every other."""
        return tuple(self._distances(start) for start in range(self.sockets))

    def _distances(self, start: int) -> tuple[int, ...]:
        distance = {start: 0}
        frontier = [start]
        for here in frontier:  # breadth first: the list grows while it is walked
            for pair in self.links:
                there = pair[0] + pair[1] - here
                if here in pair and there not in distance:
                    distance[there] = distance[here] + 1
                    frontier.append(there)
        return tuple(distance[socket] for socket in range(self.sockets))


def read(path: str | Path) -> Machine:
    """Read a resolved machine. Keys that the board has no use for are passed over.

    Raises:
        ValueError: a key is missing, or its value is none of its kind.
    """
    lines = (line.partition(" ") for line in Path(path).read_text(encoding="utf-8").splitlines() if line)
    given = {key: value for key, _, value in lines}
    values: dict[str, object] = {}
    for key, kind in Machine.__annotations__.items():
        if key not in given:
            raise ValueError(f"{path} has no {key}")
        text = given[key]
        if key == "links":
            pairs = (pair.split("-") for pair in text.split())
            values[key] = tuple((int(low), int(high)) for low, high in pairs)
        else:
            values[key] = kind(text)
    return Machine(**values)  # type: ignore[arg-type]
