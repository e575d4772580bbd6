# SPDX-License-Identifier: BSD-3-Clause
"""Do the stock drivers and the network card agree on what they did, on every kernel and number of cores?

A guest of its own (`card-guest`) brings the card up with each kernel's driver. Client machines send datagrams, one client to each
core; then both ends of a connection move to other cores. Judged are:

    queues      the driver switches on a pair for each core, and has a vector for each (with one core it may use one message)
    counters    what the driver has counted (`ethtool -S`) is what the model has counted, for each queue too
    datagrams   come to the queues that the hash of their addresses and ports says, worked out here from the card's registers
    follows     the packets of a connection come to the queues of the cores that its ends are on, before these move and after

With `--engine gem5` it is another check: whether the card does the same on both engines (`card_engines`).
"""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

from rich.table import Table

from common.arguments import counts_of_cores
from common.outcome import Failure, Outcome
from common.terminal import console
from harness.build import kernel_source
from harness.checks.registry import Check
from harness.checks.verify import card_engines
from harness.checks.verify.card_engines import counted
from harness.checks.verify.measuring import (
    add_engine_option,
    add_source_option,
    execute,
    keep,
    point,
    prepare_host,
    scratch,
)
from harness.spec.kernel import sources
from harness.spec.point import Point

NAME = "card"
SUMMARY = "the network card under each kernel's driver: queues, vectors, counters, queues by hash, processes that move"
QUICK = ("--source", "default", "--cores", "2")

_GUEST = Path(__file__).with_name("card-guest")
_CORES = {"fast": (1, 2, 8, 48), "gem5": card_engines.CORES}
_COUNTERS = {"rx_pkts_nic": "received_frames", "tx_pkts_nic": "sent_frames", "rx_missed_errors": "dropped_fifo"}
"""The driver's name of a counter, and the model's. Not `rx_packets`: in Linux 2.6.35 cores add to it at once, without a lock, and
on 48 some of that is lost. Those of the queues, which have one writer each, are judged too."""
_DIRECTOR = {"fdir_match": "director_matches"}
_GUEST_ADDRESS, _CONTROL_ADDRESS, _FIRST_MACHINE = (int(IPv4Address(text)) for text in ("10.0.0.1", "10.0.0.254", "10.0.1.1"))
_CONTROL_PORT, _FIRST_PORT, _FIRST_CLIENT_PORT, _MACHINES = 9, 11211, 20000, 25
_RSS, _IP, _UDP = 1, 1 << 17, 1 << 22
"""Bits of MRQC: the hash is on; of IPv4 addresses; of UDP ports too."""
_STRAYS = 0.05
"""Of the packets of a connection, those that may still come to another queue."""


@dataclass(frozen=True)
class Judged:
    """One thing of one run, as it should be and as it was."""

    what: str
    wanted: str
    found: str
    right: bool


def configure(parser: argparse.ArgumentParser) -> None:
    add_engine_option(parser)
    add_source_option(parser, "only this kernel (default: every one that is there; with --engine gem5 the paper's)")
    each = ", ".join(f"{engine}: {','.join(map(str, cores))}" for engine, cores in _CORES.items())
    parser.add_argument("--cores", type=counts_of_cores, metavar="N,M", help=f"core counts ({each})")


def planned(arguments: argparse.Namespace) -> Sequence[Point]:
    """One point for each kernel that is there and number of cores."""
    _with_cores(arguments)
    if arguments.engine == "gem5":
        return card_engines.planned(arguments.cores, arguments.source)
    return [_point(source, cores) for source in _sources(arguments) for cores in arguments.cores]


def _with_cores(arguments: argparse.Namespace) -> None:
    arguments.cores = arguments.cores or _CORES[arguments.engine]


def _sources(arguments: argparse.Namespace) -> list[str]:
    return [arguments.source] if arguments.source else list(kernel_source.available())


def _point(source: str, cores: int) -> Point:
    return point(f"workload={_GUEST}:flows * kernel={source}:stock * cores={cores}")


def run(arguments: argparse.Namespace) -> Check:
    """Run each point, print what was judged, count what is as it should be."""
    _with_cores(arguments)
    if arguments.engine == "gem5":
        return card_engines.run(arguments, NAME)
    prepare_host()
    there = _sources(arguments)
    table = Table("kernel", "cores", "what", "wanted", "found", title="The network card", title_justify="left")
    judged = wrong = 0
    with scratch(NAME) as folder:
        for source in there:
            for cores in arguments.cores:
                ran = execute(_point(source, cores), folder / f"{source}-{cores}")
                for one in judge(ran.result, counted(ran.folder), cores):
                    table.add_row(source, str(cores), one.what, one.wanted, one.found if one.right else f"[red]{one.found}[/]")
                    judged, wrong = judged + 1, wrong + (not one.right)
        if wrong:
            keep(folder)
    console().print(table)
    absent = [] if arguments.source else [source for source in sources() if source not in there]
    skipped = f"; skipped, as the settings name no source of it: {', '.join(absent)}" if absent else ""
    return Check(not wrong, f"{NAME}: {judged - wrong} of {judged} as they should be; wanted: all{skipped}", judged)


def judge(result: Mapping[str, Any], model: Mapping[str, Any], cores: int) -> list[Judged]:
    """Everything of one run.

    Raises:
        Failure: wrong-result, when guest or model do not say what is judged.
    """
    try:
        return [
            *_queues(result, model, cores),
            *_counters(result, model, cores),
            _hashed(result, cores),
            *_follows(result, cores),
        ]
    except KeyError as error:
        raise Failure(
            Outcome.WRONG_RESULT, f"The run says nothing of {error}.", "Look at its console.log and card.json."
        ) from error


def _equal(what: str, wanted: object, found: object) -> Judged:
    return Judged(what, str(wanted), str(found), wanted == found)


def _queues(result: Mapping[str, Any], model: Mapping[str, Any], cores: int) -> Iterator[Judged]:
    yield _equal("queue pairs", cores, model["most_queues"])
    if cores > 1:
        yield _equal("vectors of queues", cores, result["vectors"])
    else:
        yield Judged("vectors of queues", "0 or 1", str(result["vectors"]), result["vectors"] in (0, 1))
    load = result["load"]
    yield _equal("replies that clients had", load["sent"], load["right"])


def _counters(result: Mapping[str, Any], model: Mapping[str, Any], cores: int) -> Iterator[Judged]:
    driver = result["statistics"]  # without zeros
    if not driver["rx_pkts_nic"] or not driver["tx_pkts_nic"]:
        raise KeyError("packets")
    names = {**_COUNTERS, **(_DIRECTOR if cores > 1 else {})}
    for name, ours in names.items():
        yield _equal(f"{name} = {ours}", model[ours], driver.get(name, 0))
    for way, ours in (("rx", "received_of_queue"), ("tx", "sent_of_queue")):
        found = result[f"{way}_queues"]
        wrong = [queue for queue in range(cores) if found[queue] != model[ours][queue]]
        said = "all" if not wrong else ", ".join(f"{queue}: {found[queue]}, not {model[ours][queue]}" for queue in wrong[:4])
        yield Judged(f"{way}_queue_*_packets = {ours}", "all", said, not wrong and sum(found) == sum(model[ours]))


def _hashed(result: Mapping[str, Any], cores: int) -> Judged:
    """One client to each core's port, and the answer to the order."""
    flows = {
        (_FIRST_MACHINE + n % _MACHINES, _FIRST_CLIENT_PORT + n // _MACHINES, _FIRST_PORT + n): result["per_core"][n]
        for n in range(cores)
    }
    flows[(_CONTROL_ADDRESS, _CONTROL_PORT, result["control_port"])] = 1
    wanted = [0] * cores
    for (source, source_port, port), packets in flows.items():
        wanted[queue_of(result, source, source_port, port)] += packets
    found = list(result["datagrams"])
    return Judged("datagrams by queue", _spread(wanted), _spread(found), wanted == found and sum(found) > 0)


def _spread(packets: Sequence[int]) -> str:
    return ", ".join(f"{queue}: {count}" for queue, count in enumerate(packets) if count)


def queue_of(result: Mapping[str, Any], source: int, source_port: int, port: int) -> int:
    """Where the card's hash sends a datagram to the guest, by the registers that the guest has read."""
    if not result["mrqc"] & 15 or not result["mrqc"] & (_IP | _UDP):
        return 0
    key = b"".join(word.to_bytes(4, "little") for word in result["rss_key"])
    reta = b"".join(word.to_bytes(4, "little") for word in result["reta"])
    text = source.to_bytes(4, "big") + _GUEST_ADDRESS.to_bytes(4, "big")
    if result["mrqc"] & _UDP:
        text += source_port.to_bytes(2, "big") + port.to_bytes(2, "big")
    return reta[toeplitz(key, text) % len(reta)] & 15


def toeplitz(key: bytes, text: bytes) -> int:
    """The hash of receive-side scaling: for each bit of the text that is set, the 32 bits of the key from there on."""
    bits = int.from_bytes(key, "big")
    value = 0
    for place in range(8 * len(text)):
        if text[place // 8] >> (7 - place % 8) & 1:
            value ^= bits >> (8 * len(key) - 32 - place) & 0xFFFFFFFF
    return value


def _follows(result: Mapping[str, Any], cores: int) -> Iterator[Judged]:
    """What comes to the client and what comes to the server, each at the core that it is on."""
    if cores == 1:
        return
    trips = result["round_trips"]
    for when, stay in zip(("before they move", "after"), result["stays"], strict=True):
        received = stay["received"]
        own = [received[stay[end]] for end in ("client", "server")]
        elsewhere = sum(received) - sum(own)
        yield Judged(
            f"a connection's ends, {when}",
            f"{trips} to queue {stay['client']}, {trips} to {stay['server']}",
            f"{own[0]}, {own[1]}, others {elsewhere}",
            all(abs(count - trips) <= trips * _STRAYS for count in own) and elsewhere <= trips * _STRAYS,
        )
