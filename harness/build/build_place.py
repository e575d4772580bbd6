# SPDX-License-Identifier: BSD-3-Clause
"""Where a kernel is built: in memory where much of it is free."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from common import memory
from common.locks import locked, locked_now

# A build takes up to 4 GB; the rest is for what else runs.
_IN_MEMORY = Path("/dev/shm")


_PLACE = "mosbench-kernel-"


_MEMORY_TO_BUILD = 8 << 30


@contextmanager
def build_place(folder: Path) -> Iterator[Path]:
    """A folder to build a kernel in, removed afterwards: in memory where much is free, otherwise ``folder`` itself.

    A tree is 45,000 files that are written, read once and removed again, which takes a slow disk minutes.
    """
    if _free_memory() < _MEMORY_TO_BUILD or not os.access(_IN_MEMORY, os.W_OK):
        yield folder
        return
    with ExitStack() as held:
        with locked(_IN_MEMORY, "a folder to build a kernel in"):
            place = Path(held.enter_context(tempfile.TemporaryDirectory(prefix=_PLACE, dir=_IN_MEMORY)))
            held.enter_context(locked_now(place))
            _remove_abandoned()
        yield place


def _remove_abandoned() -> None:
    """Take away what builds that were killed left in memory. Call with ``_IN_MEMORY`` locked."""
    for place in _IN_MEMORY.glob(f"{_PLACE}*"):
        try:
            with locked_now(place):
                shutil.rmtree(place, ignore_errors=True)
        except OSError:  # somebody builds there
            continue


def _free_memory() -> int:
    """Bytes that can be had in memory and, as files, in ``_IN_MEMORY``; 0 where that does not exist."""
    try:
        return min(memory.available(), shutil.disk_usage(_IN_MEMORY).free)
    except OSError:
        return 0
