# SPDX-License-Identifier: BSD-3-Clause
"""What is written is as wide as it may be, and no number is cut."""

import io
import os
import pty
import re
import struct
import sys
import threading
import time
from fcntl import ioctl
from pathlib import Path
from termios import TIOCSWINSZ

import pytest
from rich.table import Table

from common.columns import columns, lines, on_one_line, say, say_live
from common.terminal import console


def test_columns_of_environment_terminal_and_pipe(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    leader, follower = pty.openpty()
    ioctl(leader, TIOCSWINSZ, struct.pack("HHHH", 24, 93, 0, 0))
    with os.fdopen(follower, "w") as terminal, open(tmp_path / "file", "w") as file:
        assert columns(terminal, 160) == 93
        assert columns(file, 160) == columns(io.StringIO(), 160) == 160
        monkeypatch.setenv("COLUMNS", "71")
        assert columns(terminal, 160) == columns(file, 160) == 71
        monkeypatch.setenv("COLUMNS", "wide")
        assert columns(file, 160) == 160
    os.close(leader)


def test_a_line_that_is_shortened_keeps_its_numbers_whole() -> None:
    text = "Running 10 points [92 s] 8 done; micro:open-close on 48"
    for width in range(20, len(text) + 1):
        shown = on_one_line(text, width)
        assert len(shown) <= width
        assert set(shown.removesuffix(" ...").split()) <= set(text.split())


def test_lines_break_between_words() -> None:
    assert lines("a short one", 20) == "a short one"
    broken = lines("word " * 20 + "123,456", 30).split("\n")
    assert max(map(len, broken)) <= 30
    assert broken[-1].endswith("123,456")
    assert all(line.startswith("  ") for line in broken[1:])


def test_sentences_stay_on_one_line_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    say("word " * 100)
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_tables_break_texts_and_never_figures(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    table = Table("a text", title="Table")
    for _ in range(3):
        table.add_column("some figure", justify="right")
    table.add_row("some_name_that_is_too_long_for_its_column", "1,234,567", "12.34 %", "99")
    console().print(table)
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= 50
    assert "1,234,567" in shown and "12.34 %" in shown
    assert "\N{HORIZONTAL ELLIPSIS}" not in shown


class Terminal(io.StringIO):
    """A stream that gives another thread its turn after each write."""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        written = super().write(text)
        time.sleep(0.0005)
        return written


def test_a_sentence_never_stands_behind_a_live_line(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)

    def work() -> None:
        for _ in range(50):
            say_live("working")

    live = threading.Thread(target=work)
    live.start()
    for _ in range(50):
        say("done")
    live.join()
    shown = [part for part in re.split(r"\r\033\[K|\n", terminal.getvalue()) if part]
    assert sorted(set(shown)) == ["done", "working"] and shown.count("done") == 50
