# SPDX-License-Identifier: BSD-3-Clause
"""The guest protocol on the console: events behind ``@mosbench `` with a CRC, and what else a console says.

One line is ``@mosbench <JSON object> <8 hex digits>``, the digits being the CRC-32 of the JSON text. The events are listed in
docs/reference/guest-protocol.md. A console is read while it is written: `ConsoleReader.feed` takes bytes in pieces of any size.
"""

import json
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from common.outcome import Failure, Outcome

PREFIX = "@mosbench "
_PANIC = re.compile(r"Kernel panic - not syncing: ?(.*)")
QUOTE = 200  # characters of a line that a message quotes
_LINE_LIMIT = 1 << 20  # bytes without an end of line after which a line is cut: a console gone wild must not fill memory


class TornLine(ValueError):
    """A protocol line whose CRC or JSON is wrong: a number in it must not be believed."""


def parse_line(line: str) -> dict[str, Any] | None:
    """The event of a console line, or None if it is not a protocol line. Text before the prefix makes the line a torn one.

    Raises:
        TornLine: the prefix is there, but CRC, JSON or shape is wrong.
    """
    at = line.find(PREFIX)
    if at < 0:
        return None
    body, _, crc = line[at + len(PREFIX) :].rstrip().rpartition(" ")
    if at > 0 or not re.fullmatch("[0-9a-f]{8}", crc) or zlib.crc32(body.encode()) != int(crc, 16):
        raise TornLine(line)
    try:
        event = json.loads(body)
    except json.JSONDecodeError as error:
        raise TornLine(line) from error
    if not isinstance(event, dict) or not isinstance(event.get("event"), str):
        raise TornLine(line)
    return event


def format_line(event: Mapping[str, Any]) -> str:
    """The protocol line of an event, without the end of line (what the guest's ``roi`` does; tests use it)."""
    body = json.dumps(event, separators=(",", ":"))
    return f"{PREFIX}{body} {zlib.crc32(body.encode()):08x}"


@dataclass
class ConsoleReader:
    """What a console has said so far."""

    events: list[dict[str, Any]] = field(default_factory=list)
    panic: str | None = None
    torn: tuple[int, str] | None = None  # line number (from 1) and text of the first damaged protocol line
    lines: int = 0
    last_line: str = ""
    _rest: bytes = b""

    @property
    def started(self) -> bool:
        """The guest's init has begun the job: the boot is over."""
        return self.find("start") is not None

    def find(self, name: str) -> dict[str, Any] | None:
        """First event of that name."""
        return next((event for event in self.events if event["event"] == name), None)

    def feed(self, data: bytes) -> None:
        """Take what was added to the console."""
        *whole, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > _LINE_LIMIT:
            whole.append(self._rest)
            self._rest = b""
        for line in whole:
            self._take(line.decode(errors="replace").rstrip("\r"))

    def finish(self) -> None:
        """The console is closed: a last line without its end counts as a line."""
        if self._rest:
            self._take(self._rest.decode(errors="replace"))
            self._rest = b""

    def _take(self, line: str) -> None:
        self.lines += 1
        if line.strip():
            self.last_line = line.strip()[:QUOTE]
        found = _PANIC.search(line)
        if found and self.panic is None:
            self.panic = found.group(1).strip() or "no reason given"
        try:
            event = parse_line(line)
        except TornLine:
            self.torn = self.torn or (self.lines, line)
            return
        if event is not None:
            self.events.append(event)


@dataclass(frozen=True)
class ConsoleResult:
    """A console that ended well: the guest did the job and its check held."""

    events: tuple[dict[str, Any], ...]

    def event(self, name: str) -> dict[str, Any]:
        """First event of that name; KeyError if the guest did not send it."""
        for event in self.events:
            if event["event"] == name:
                return event
        raise KeyError(name)

    @property
    def result(self) -> dict[str, Any]:
        return self.event("result")


def judge(reader: ConsoleReader, console: Path) -> ConsoleResult:
    """Decide what a finished console says.

    Raises:
        Failure: guest-panic, application-failed (also a damaged or missing report) or wrong-result, naming the console file.
    """
    reader.finish()
    if reader.panic is not None:
        raise Failure(
            Outcome.GUEST_PANIC, f"The guest kernel panicked: {reader.panic}.", f"The end of {console} has the call trace."
        )
    if reader.torn is not None:
        number, _ = reader.torn
        raise Failure(
            Outcome.APPLICATION_FAILED,
            f"Line {number} of {console} is a damaged report: its CRC does not match.",
            "Look what was printed into it; a number from it would be worth nothing.",
        )
    exited = reader.find("exit")
    if exited is not None and exited.get("status") != 0:
        raise Failure(
            Outcome.APPLICATION_FAILED,
            str((reader.find("error") or exited).get("error") or f"The workload's script ended with status {exited['status']}."),
            f"{console} has what it printed.",
        )
    results = [event for event in reader.events if event["event"] == "result"]
    if exited is None or len(results) != 1:
        missing = (
            "ended before the workload's script did" if exited is None else f"reported {len(results)} results instead of one"
        )
        raise Failure(
            Outcome.APPLICATION_FAILED, f"The guest {missing}.", f"{console} ends with: {reader.last_line or 'nothing'}"
        )
    result = results[0]
    if not _is_result(result):
        raise Failure(
            Outcome.APPLICATION_FAILED, "The workload's result lacks a field or has one of a wrong type.", f"It is in {console}."
        )
    if result["checked"] is not True:
        detail = str(result.get("detail", "")) or "no detail given"
        raise Failure(Outcome.WRONG_RESULT, f"The workload's own check failed: {detail}.", f"{console} has what it printed.")
    return ConsoleResult(tuple(reader.events))


def _is_result(event: Mapping[str, Any]) -> bool:
    """units, unit, checked, and lists of equal length: units of each core, and if they are there its cycles and its number."""
    units, cycles = event.get("per_core"), event.get("cycles_per_core")
    numbers = isinstance(units, list) and len(units) > 0
    if isinstance(units, list) and "cycles_per_core" in event:
        numbers &= isinstance(cycles, list) and len(cycles) == len(units)
    if isinstance(units, list) and "cores" in event:
        named = event["cores"]
        numbers &= isinstance(named, list) and len(named) == len(units) and all(isinstance(core, int) for core in named)
    return (
        numbers
        and all(isinstance(value, int | float) and value >= 0 for value in [*(units or ()), *(cycles or ()), event.get("units")])
        and isinstance(event.get("unit"), str)
        and isinstance(event.get("checked"), bool)
    )
