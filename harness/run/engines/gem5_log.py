# SPDX-License-Identifier: BSD-3-Clause
"""What gem5 prints: the events of gem5-configs/simulate.py, and its own last words."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from common.outcome import Failure, Outcome, bad_input

_PREFIX = "@gem5 "
STATS_END = "---------- End Simulation Statistics   ----------"
_DEADLOCK = "Possible Deadlock detected"
_DEADLOCK_ADDRESS = re.compile(r"Possible Deadlock detected.*?paddr: \[?(0x[0-9a-f]+)", re.DOTALL)
_TRANSITION = re.compile(r"Invalid transition.*", re.DOTALL)
_WORDS = re.compile(r"^(?:.*?: )?(panic|fatal): (.+)$", re.MULTILINE)
_SCRIPT = re.compile(r"^(\w+(?:Error|Exception): .+)$", re.MULTILINE)
_BOARD = re.compile(r"^(?:[\w.]+\.)?BoardError: (.+)$", re.MULTILINE)
_KILLED = re.compile(r"fatal: windows\.py: (window \d+) ended with status -9")
_CHECKPOINT = re.compile(r"fatal: Can't unserialize '([^']*)'")


def events(text: str) -> Iterator[dict[str, Any]]:
    """The events in gem5's output. A line that is cut off, as the last one of a killed process, is none."""
    for line in text.splitlines():
        if line.startswith(_PREFIX):
            try:
                event = json.loads(line.removeprefix(_PREFIX))
            except json.JSONDecodeError:
                continue
            if isinstance(event, dict) and "event" in event:
                yield event


def diagnosis(log: str, checkpoint: Path | None = None) -> Failure | None:
    """What gem5 died of, from the end of its log; None if it does not say. ``checkpoint``: the folder of the boot's, if any."""
    if _DEADLOCK in log:
        address = _DEADLOCK_ADDRESS.search(log)
        where = f" on physical address {address[1]}" if address else ""
        return Failure(
            Outcome.PROTOCOL_DEADLOCK,
            f"gem5's coherence protocol made no progress{where} for longer than its deadlock threshold.",
            "Run the point again with fewer cores; if a line is only very contended, raise DEADLOCK_CYCLES in "
            "gem5-configs/board/line_tap.py. The log names the requests that waited.",
        )
    if found := _TRANSITION.search(log):
        return Failure(
            Outcome.ENGINE_CRASH,
            f"gem5's coherence protocol met a message that it has no transition for ({' '.join(found[0].split())[:160]}).",
            "This is a fault of the protocol, not of the run: keep the log, and try another number of cores.",
        )
    if found := _CHECKPOINT.search(log):
        return Failure(
            Outcome.ENGINE_CRASH,
            f"gem5 cannot restore the checkpoint: it has no {found[1]!r}.",
            "It was written by another version of the board. "
            f"Remove {f'the folder {checkpoint}' if checkpoint else 'it'}; the next run boots again.",
        )
    if found := _BOARD.search(log):
        return bad_input(
            f"gem5 cannot be that machine: {found[1][:200]}",
            "Change that key of the machine, or use a gem5 with the other protocol.",
        )
    if found := _KILLED.search(log):
        return Failure(
            Outcome.OUT_OF_MEMORY,
            f"The process of {found[1]} was killed, as the host does when memory is short.",
            "Use --processors 1, fewer windows, a smaller node_mib, or a host with more memory.",
        )
    if found := _SCRIPT.search(log):
        return Failure(
            Outcome.ENGINE_CRASH,
            f"The script that gem5 executes failed ({found[1][:200]}).",
            "Its log in the run directory has the place; the board is in gem5-configs/board.",
        )
    if words := _WORDS.findall(log):
        kind, sentence = words[0]
        return Failure(
            Outcome.ENGINE_CRASH, f"gem5 stopped ({kind}): {sentence.strip()[:200]}", "Its log in the run directory has more."
        )
    return None


def check_stats(path: Path) -> None:
    """Refuse a statistics file that was not written to its end.

    Raises:
        Failure: engine-crash.
    """
    try:
        with open(path, "rb") as handle:
            handle.seek(0, 2)
            handle.seek(max(0, handle.tell() - 4096))
            tail = handle.read().decode(errors="replace")
    except OSError as error:
        raise Failure(
            Outcome.ENGINE_CRASH,
            f"gem5 left no statistics ({path}: {error.strerror}).",
            "Run the point again; its log may say why.",
        ) from error
    if STATS_END not in tail:
        raise Failure(
            Outcome.ENGINE_CRASH,
            f"{path} is truncated: it does not end with the line that ends gem5's statistics.",
            "Check for free disk space and run the point again.",
        )
