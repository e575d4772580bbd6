# SPDX-License-Identifier: BSD-3-Clause
"""Do the stock drivers and the network card agree on what they did, on every kernel and number of cores?

A guest of its own (`card-guest`) brings the card up with each kernel's driver. Client machines send datagrams, one client to each
core; then both ends of a connection move to other cores. Judged are:

    queues      the driver switches on a pair for each core, and has a vector for each (with one core it may use one message)
    counters    what the driver has counted (`ethtool -S`) is what the model has counted, for each queue too
    datagrams   come to the queues that the hash of their addresses and ports says, worked out here from the card's registers
    follows     the packets of a connection come to the queues of the cores that its ends are on, before these move and after
    streams     each byte of megabytes each way over TCP is right, through a net that loses one packet in a thousand, so that some
                are sent again, with the card's offloads (segmentation, checksums) and with all of them off

And a megabyte each way, with the offloads and without, to and from a guest of Debian's QEMU and its card (`card_peer`).

With `--engine gem5` it is another check: whether the card does the same on both engines (`card_engines`).
"""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

from rich.table import Table

from common.arguments import counts_of_cores
from common.outcome import Failure, Outcome
from common.terminal import console
from harness.build import kernel_source
from harness.checks.registry import Check
from harness.checks.verify import card_engines, card_peer
from harness.checks.verify.card_engines import counted
from harness.checks.verify.card_judged import Judged, counters, equal, streams
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
SUMMARY = "the network card under each kernel's driver: queues, vectors, counters, flows that move, streams, a foreign peer"
QUICK = ("--source", "default", "--cores", "2")

_GUEST = Path(__file__).with_name("card-guest")
_CORES = {"fast": (1, 2, 8, 48), "gem5": card_engines.CORES}
_GUEST_ADDRESS, _CONTROL_ADDRESS, _FIRST_MACHINE = (int(IPv4Address(text)) for text in ("10.0.0.1", "10.0.0.254", "10.0.1.1"))
_CONTROL_PORT, _FIRST_PORT, _FIRST_CLIENT_PORT, _MACHINES = 9, 11211, 20000, 25
_RSS, _IP, _UDP = 1, 1 << 17, 1 << 22
"""Bits of MRQC: the hash is on; of IPv4 addresses; of UDP ports too."""
_STRAYS = 0.05
"""Of the packets of a connection, those that may still come to another queue."""


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
    there = _sources(arguments)
    return [_point(source, cores) for source in there for cores in arguments.cores] + card_peer.planned(there)


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
    rows: list[tuple[str, str, Judged]] = []
    with scratch(NAME) as folder:
        for source in there:
            for cores in arguments.cores:
                ran = execute(_point(source, cores), folder / f"{source}-{cores}")
                for one in judge(ran.result, counted(ran.folder), cores):
                    rows.append((source, str(cores), one))
            for one in card_peer.run(source, folder / f"{source}-peer"):
                rows.append((source, "with a peer", one))
        wrong = sum(not one.right for _, _, one in rows)
        if wrong:
            keep(folder)
    for source, where, one in rows:
        table.add_row(source, where, one.what, one.wanted, one.found if one.right else f"[red]{one.found}[/]")
    console().print(table)
    absent = [] if arguments.source else [source for source in sources() if source not in there]
    skipped = f"; skipped, as the settings name no source of it: {', '.join(absent)}" if absent else ""
    return Check(not wrong, f"{NAME}: {len(rows) - wrong} of {len(rows)} as they should be; wanted: all{skipped}", len(rows))


def judge(result: Mapping[str, Any], model: Mapping[str, Any], cores: int) -> list[Judged]:
    """Everything of one run.

    Raises:
        Failure: wrong-result, when guest or model do not say what is judged.
    """
    try:
        return [
            *_queues(result, model, cores),
            *counters(result, model, cores),
            _hashed(result, cores),
            *_follows(result, cores),
            *streams(result, model),
            *_lost(result, model),
        ]
    except KeyError as error:
        raise Failure(
            Outcome.WRONG_RESULT, f"The run says nothing of {error}.", "Look at its console.log and card.json."
        ) from error


def _queues(result: Mapping[str, Any], model: Mapping[str, Any], cores: int) -> Iterator[Judged]:
    yield equal("queue pairs", cores, model["most_queues"])
    if cores > 1:
        yield equal("vectors of queues", cores, result["vectors"])
    else:
        yield Judged("vectors of queues", "0 or 1", str(result["vectors"]), result["vectors"] in (0, 1))
    load = result["load"]
    yield equal("replies that clients had", load["sent"], load["right"])


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


def _lost(result: Mapping[str, Any], model: Mapping[str, Any]) -> Iterator[Judged]:
    """Packets were lost, and of TCP's segments some sent again."""
    again = sum(stream["retransmitted"] for stream in result["streams"])
    found = f"{model['wire_lost']} lost, {again} sent again"
    yield Judged("packets lost, segments sent again", "some, some", found, model["wire_lost"] > 0 and again > 0)
