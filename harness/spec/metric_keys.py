# SPDX-License-Identifier: BSD-3-Clause
"""The keys of metrics.json, each said once: `harness.run.metrics` writes them, docs/reference/data.md shows them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Key:
    """``null`` says when the value is null, ``only`` which runs have the key at all; empty: never, all."""

    meaning: str
    unit: str = ""
    null: str = ""
    only: str = ""


_NO_CYCLES = "an engine that counted no cycles"
_NO_SAMPLES = "a run without samples"

OF_WHOLE_REGION = ("p50_ns", "p99_ns", "link_to_server_ns", "link_from_server_ns")
"""Of `load`, what depends on how long the region took."""

KEYS: Mapping[str, Key] = {
    "units": Key("work done in the region of interest"),
    "unit": Key("what is counted, in the plural: requests, opens, ..."),
    "seconds": Key("length of the region in guest time: cycles of the core that took longest, by its clock", "s"),
    "units_per_second": Key("units / seconds", "1/s"),
    "units_per_second_core": Key("units_per_second / cores in use, the paper's per-core throughput", "1/s"),
    "dropped": Key("requests without a reply", only="workloads that count them"),
    "late": Key("replies that came late", only="workloads that count them"),
    "load": Key(
        "{sent, right, wrong, dropped, late, resets, ns, p50_ns, p99_ns, link_to_server_ns, link_from_server_ns}: what the "
        "clients behind the network card counted in the region, their latencies, and how long the link was busy, of `ns`, each "
        "way; with `windows` only the counts and `ns`",
        only="runs with such clients",
    ),
    "windows": Key("how many parts of the region were measured; units are those that fall to them", only="runs with `windows`"),
    "per_core": Key("list of {core, units, cycles, units_per_second}; core is null for an entry of all cores"),
    "user": Key("share of the cores' time in the region, by samples", null=_NO_SAMPLES),
    "system": Key("the same of the kernel", null=_NO_SAMPLES),
    "idle": Key("share of the cores' cycles in which they were halted", null=_NO_CYCLES),
    "microseconds_per_unit": Key("{user, system, idle}: time of all cores together for one unit of work", "µs", null=_NO_SAMPLES),
    "instructions": Key("executed, of all cores", null=_NO_CYCLES),
    "cycles_busy": Key("cycles of all cores in which they were not halted", "core cycles", null=_NO_CYCLES),
    "instructions_per_cycle": Key("instructions / cycles_busy", null=_NO_CYCLES),
    "engine": Key("which engine ran the point"),
    "roi_cycles": Key("length of the region", "core cycles"),
    "abandoned_walks": Key("{what was looked for: walks through the guest's memory that were given up when lines were named}"),
    "full_nodes": Key(
        "list of the nodes that had no memory left at the region's end: no more free pages than the mark up to which "
        "the kernel frees some (its high watermark)"
    ),
    "node_memory": Key(
        "{node: first byte of its memory and first behind it, physical}, as the guest's kernel has it; empty without nodes"
    ),
}


def odd(found: Iterable[str]) -> list[str]:
    """Keys that metrics.json must not have, or lacks; sorted."""
    always = {name for name, key in KEYS.items() if not key.only}
    return sorted((set(found) - KEYS.keys()) | (always - set(found)))
