# SPDX-License-Identifier: BSD-3-Clause
"""Processes that descend from one, for checks that make a host disappear."""

import os
import signal
from pathlib import Path


def below(pid: int) -> list[int]:
    """All processes that descend from one, the youngest first."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, ValueError, IndexError):
                continue
            parents.setdefault(parent, []).append(int(entry.name))
    found, look = [], [pid]
    while look:
        children = parents.get(look.pop(), [])
        found += children
        look += children
    return found[::-1]


def kill(pid: int) -> None:
    """End a process at once, if it is there."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
