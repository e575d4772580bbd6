# SPDX-License-Identifier: BSD-3-Clause
"""What `verify card` asks of each of its guests: the driver's counters, and streams over TCP whose bytes were compared."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_COUNTERS = {"rx_pkts_nic": "received_frames", "tx_pkts_nic": "sent_frames", "rx_missed_errors": "dropped_fifo"}
"""The driver's name of a counter, and the model's. Not `rx_packets`: in Linux 2.6.35 cores add to it at once, without a lock, and
on 48 some of that is lost. Those of the queues, which have one writer each, are judged too."""
_DIRECTOR = {"fdir_match": "director_matches"}
_NONE = "rx_csum_offload_errors"
"""Checksums that the card has called wrong."""
_OF_THE_CARD = ("tso", "scatter", "send-checksums", "receive-checksums")
_OF_THE_KERNEL = ("gso", "gro")
"""Work that the kernel puts together for a card, or for itself; Linux 2.6.35 does not unless it is told to."""


@dataclass(frozen=True)
class Judged:
    """One thing of one run, as it should be and as it was."""

    what: str
    wanted: str
    found: str
    right: bool


def equal(what: str, wanted: object, found: object) -> Judged:
    """A thing that can be one value only."""
    return Judged(what, str(wanted), str(found), wanted == found)


def counters(result: Mapping[str, Any], model: Mapping[str, Any], cores: int) -> Iterator[Judged]:
    """What the driver counted is what the model counted.

    Raises:
        KeyError: one of them does not say.
    """
    driver = result["statistics"]  # without zeros
    if not driver["rx_pkts_nic"] or not driver["tx_pkts_nic"]:
        raise KeyError("packets")
    names = {**_COUNTERS, **(_DIRECTOR if cores > 1 else {})}
    for name, ours in names.items():
        yield equal(f"{name} = {ours}", model[ours], driver.get(name, 0))
    yield equal(_NONE, 0, driver.get(_NONE, 0))
    for way, ours in (("rx", "received_of_queue"), ("tx", "sent_of_queue")):
        found = result[f"{way}_queues"]
        wrong = [queue for queue in range(cores) if found[queue] != model[ours][queue]]
        said = "all" if not wrong else ", ".join(f"{queue}: {found[queue]}, not {model[ours][queue]}" for queue in wrong[:4])
        yield Judged(f"{way}_queue_*_packets = {ours}", "all", said, not wrong and sum(found) == sum(model[ours]))


def streams(result: Mapping[str, Any], model: Mapping[str, Any]) -> Iterator[Judged]:
    """Streams each way, first with all offloads and then with none. The guest has compared the bytes: a wrong one ends its run.

    Raises:
        KeyError: the guest or the model does not say.
    """
    for stream, offloads in zip(result["streams"], (1, 0), strict=True):
        said = "with offloads" if offloads else "without"
        judged = _OF_THE_CARD if offloads else (*_OF_THE_CARD, *_OF_THE_KERNEL)
        others = [name for name in judged if stream[name] != offloads]
        right = not others and not stream["errors"] and stream["bytes"] > 0
        found = f"{stream['bytes']:,} bytes, {stream['errors']} segments with errors"
        yield Judged(f"streams {said}", "right", found + _but(others, "off" if offloads else "on"), right)
    sent = model["segmented_packets"]
    yield Judged("packets that the card cut up", "some", str(sent), sent > 0)


def _but(names: Sequence[str], state: str) -> str:
    return f"; {', '.join(names)} {state}" if names else ""
