# SPDX-License-Identifier: BSD-3-Clause
"""The tutorial followed literally in terminals of 80, 100 and 120 columns: no line is longer, and no figure is cut."""

import fcntl
import os
import pty
import re
import select
import shlex
import struct
import subprocess
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from page_commands import SECONDS, commands, settings_in, source_of

from common.paths import REPOSITORY

WIDTHS = (80, 100, 120)
_TUTORIAL = REPOSITORY / "docs" / "tutorial.md"
_SCALE = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}


def in_terminal(command: str, width: int, folder: Path, settings: Path) -> tuple[int, str]:
    """Exit status of a command in a terminal of so many columns, and what was written there. It runs in ``folder``."""
    leader, follower = pty.openpty()
    fcntl.ioctl(leader, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    environment = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "LINES")}
    environment |= {"MOSBENCH_SETTINGS": str(settings), "TERM": "xterm-256color"}
    process = subprocess.Popen(
        shlex.split(command),
        stdin=follower,
        stdout=follower,
        stderr=follower,
        cwd=folder,
        env=environment,
        start_new_session=True,
    )
    os.close(follower)
    try:
        written = b"".join(_read(leader, time.monotonic() + SECONDS))
        return process.wait(timeout=60), written.decode()
    finally:
        os.close(leader)
        process.kill()
        process.wait()


def _read(leader: int, end: float) -> Iterator[bytes]:
    """What a terminal gets until it is closed."""
    while time.monotonic() < end:
        if not select.select([leader], [], [], 1.0)[0]:
            continue
        try:
            got = os.read(leader, 1 << 16)
        except OSError:  # the last process that had it open has ended
            return
        if not got:
            return
        yield got
    raise TimeoutError("The command did not end.")


def lines_of(written: str) -> list[str]:
    """Each line as it was on the screen, those that were written over too."""
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", written)
    return [part for line in plain.replace("\r\n", "\n").split("\n") for part in line.split("\r")]


def rows(lines: list[str]) -> list[list[float]]:
    """The figures of each row of the tables of throughput."""
    found = []
    table = False
    for line in lines:
        if line.startswith("Throughput"):
            table = True
        elif not line:
            table = False
        elif table and re.match(r" +[\d.]", line):
            given = re.findall(r"(?<![\w.])(\d[\d,]*(?:\.\d+)?)(?: ([kMGT])(?!\w))?", line)
            found.append([float(number.replace(",", "")) * _SCALE[prefix] for number, prefix in given])
    return found


def test_a_line_too_long_and_a_cut_figure_are_seen() -> None:
    written = "\r\x1b[Kworking [2 s]\r\x1b[Kdone\r\n" + "\x1b[1mThroughput: x\x1b[0m\r\n      1    330 k  0.0526  5.84\r\n\r\n"
    assert lines_of(written)[:3] == ["", "working [2 s]", "done"]
    assert rows(lines_of(written)) == [[1, 330_000, 0.0526, 5.84]]
    assert rows(lines_of(written.replace("330 k", "330,123"))) == [[1, 330_123, 0.0526, 5.84]]
    status, shown = in_terminal("sh -c 'stty size; exit 3'", 93, REPOSITORY, REPOSITORY)
    assert (status, shown.strip()) == (3, "50 93")


def layers() -> Iterator[object]:
    for layer in dict.fromkeys(map(source_of, commands(_TUTORIAL))):
        yield pytest.param(layer, marks=[getattr(pytest.mark, layer or "guest")], id=layer or "guest")


@pytest.mark.parametrize("layer", list(layers()))
def test_tutorial_in_terminals(layer: str | None, tmp_path: Path) -> None:
    (tmp_path / "run.py").symlink_to(REPOSITORY / "run.py")
    own = settings_in(tmp_path)
    for command in (one for one in commands(_TUTORIAL) if source_of(one) == layer):
        shown = {}
        for width in WIDTHS:  # the first makes the runs, the others find them
            status, written = in_terminal(command, width, tmp_path, own)
            shown[width] = lines_of(written)
            assert status == 0, f"{command}\n{written[-3000:]}"
            patch = command.split()[1:3] == ["kernel", "diff"]  # for patch(1): a line of it is as long as that of the file
            long = [line for line in shown[width] if len(line) > width and not patch]
            assert not long, f"{command} in {width} columns: {long[:3]}"
            assert "\N{HORIZONTAL ELLIPSIS}" not in written, command
        wide = rows(shown[WIDTHS[-1]])
        assert bool(wide) is (command.split()[1] in ("lab", "sweep", "ablation", "report")), command
        for width in WIDTHS[:-1]:
            narrow = rows(shown[width])
            assert len(narrow) == len(wide), command
            for one, other in zip(narrow, wide, strict=True):
                assert one == pytest.approx(other, rel=0.005), f"{command} in {width} columns"
