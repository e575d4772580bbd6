# SPDX-License-Identifier: BSD-3-Clause
"""What files take of a disk."""

from collections.abc import Iterable
from pathlib import Path

_BLOCK_BYTES = 512  # POSIX's unit of st_blocks, whatever the file system's blocks are


def bytes_of(paths: Iterable[Path]) -> int:
    """Bytes of the files among ``paths``. Of a file with holes, such as a guest's disk, what is in it."""
    states = (path.lstat() for path in paths if path.is_file())
    return sum(min(state.st_size, state.st_blocks * _BLOCK_BYTES) for state in states)
