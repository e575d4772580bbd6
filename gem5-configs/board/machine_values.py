# SPDX-License-Identifier: BSD-3-Clause
"""The machine, from the "key value" lines that ``run.py machine show NAME --engine gem5`` prints and every run directory has
(engine/machine.conf)."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Machine:
    """What the board takes from a machine file; units are in the names, cycles are core cycles, latencies round trips."""

    name: str
    sockets: int
    cores_per_socket: int
    clock_ghz: float
    core: str
    """in-order or o3."""
    caches_from: str
    """mark or job: where in a job processors, caches and interconnect take over from the ones that boot."""
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
    """The probe filter's share included, as in `l3_ways`."""
    l3_ways: int
    l3_cycles: int
    probe_filter_kib: int
    probe_filter_sets: int
    """0: no probe filter, every request asks all cores."""
    probe_filter_ways: int
    dram_local_cycles: int
    hop_cycles: int
    transfer_cycles: int
    read_busy_cycles: int
    links: tuple[tuple[int, int], ...]
    node_distances: tuple[int, ...]
    """ACPI's, from each socket (row) to each (column), row after row."""
    link_gbytes_per_second: float
    dram_gbytes_per_second: float
    node_mib: int
    interleave: str
    tlb_entries: int
    disk_latency_us: int
    sample_period_cycles: int
    chain_period_transfers: int

    @property
    def cores(self) -> int:
        return self.sockets * self.cores_per_socket

    @property
    def works_ahead(self) -> bool:
        """Whether a core has several accesses under way."""
        return self.core == "o3"

    def socket(self, core: int) -> int:
        """Socket of a core: cores are numbered socket after socket."""
        return core // self.cores_per_socket


_PASSED_OVER = ("line_bytes", "probe_filter_entry_bytes", "windows", "window_cycles", "window_lead_cycles")
"""The board's lines have 64 bytes; the sets of the probe filter stand for the rest; windows are no matter of the board."""
_OF_THE_CARD = "nic_"
"""Keys that begin so are the network card's, which reads a file of its own."""


def read(path: str | Path) -> Machine:
    """Read a machine file.

    What a key can be is in machines/schema.toml, and who writes the file sees to it.

    Raises:
        ValueError: a key is missing, twice there or not gem5's, or its value is none of its kind.
    """
    given: dict[str, str] = {}
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        key, _, text = line.partition(" ")
        if key in given:
            raise ValueError(f"machine file {path}: {key} is given twice")
        given[key] = text
    for key in (*Machine.__annotations__, *_PASSED_OVER):
        if key not in given:
            raise ValueError(f"machine file {path}: {key} is missing; every key that gem5 takes must be given")
    values: dict[str, object] = {}
    for key, text in given.items():
        if key in _PASSED_OVER or key.startswith(_OF_THE_CARD):
            continue
        if key not in Machine.__annotations__:
            raise ValueError(f"machine file {path}: {key} is not a key that gem5 takes")
        try:
            values[key] = _value(key, text)
        except ValueError:
            raise ValueError(f'machine file {path}: {key} is "{text}", which is none of its kind') from None
    return Machine(**values)  # type: ignore[arg-type]


def _value(key: str, text: str) -> object:
    if key == "links":
        pairs = (pair.split("-") for pair in text.split())
        return tuple((int(low), int(high)) for low, high in pairs)
    if key == "node_distances":
        return tuple(map(int, text.split()))
    return Machine.__annotations__[key](text)
