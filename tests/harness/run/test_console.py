# SPDX-License-Identifier: BSD-3-Clause
"""The guest protocol's reader."""

import random
from pathlib import Path

import pytest

from common.outcome import Failure
from harness.run.console import ConsoleReader, TornLine, format_line, judge, parse_line

EVENT = {"event": "result", "units": 3, "detail": 'a "quoted" word'}


def test_a_line_reads_back() -> None:
    assert parse_line(format_line(EVENT)) == EVENT
    assert parse_line(format_line(EVENT) + "\r") == EVENT
    assert parse_line("[    0.000000] Linux version 6.1.0 (mosbench@mosbench) (gcc 12)") is None


def test_every_single_damaged_character_is_noticed() -> None:
    line = format_line(EVENT)
    for at in range(len("@mosbench "), len(line)):
        with pytest.raises(TornLine):
            parse_line(line[:at] + chr(ord(line[at]) ^ 1) + line[at + 1 :])
        with pytest.raises(TornLine):
            parse_line(line[:at] + line[at + 1 :])


@pytest.mark.parametrize("line", ["@mosbench ", "@mosbench {}", "x " + format_line(EVENT), format_line({"no": "event"})])
def test_lines_that_are_no_event(line: str) -> None:
    with pytest.raises(TornLine):
        parse_line(line)


def test_pieces_of_any_size_make_the_same_events() -> None:
    text = "\n".join(
        ["boot", format_line({"event": "start"}), "noise", format_line(EVENT), format_line({"event": "exit", "status": 0})]
    )
    data = text.encode()
    dice = random.Random(23)
    for _ in range(50):
        reader = ConsoleReader()
        at = 0
        while at < len(data):
            step = dice.randint(1, 60)
            reader.feed(data[at : at + step])
            at += step
        reader.finish()
        assert [event["event"] for event in reader.events] == ["start", "result", "exit"]
        assert reader.lines == 5
        assert reader.started


def test_a_console_gone_wild_does_not_fill_memory() -> None:
    reader = ConsoleReader()
    for _ in range(64):
        reader.feed(b"x" * 65536)
    assert len(reader._rest) <= 1 << 20


def test_a_panic_wins_over_what_follows_from_it() -> None:
    reader = ConsoleReader()
    reader.feed(b"Kernel panic - not syncing: VFS: Unable to mount root fs\n@mosbench torn\n")
    with pytest.raises(Failure, match=r"panicked: VFS: Unable to mount root fs"):
        judge(reader, Path("console.log"))
