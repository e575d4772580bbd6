# SPDX-License-Identifier: BSD-3-Clause
"""Locks between processes: who waits for another says so."""

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from common.progress import step


@contextmanager
def locked(path: Path, what: str, *, passing: bool = False) -> Iterator[None]:
    """Hold the lock ``path``, a folder or a file (made where it is missing), until the body ends or the process is killed.

    Where another process holds it, waits for that one and shows that it waits for ``what``. A ``passing`` lock is a file that is
    removed at the end, by everybody who takes it.
    """
    while True:
        with _opened(path) as handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                with step(f"Waiting for another process: {what}"):
                    fcntl.flock(handle, fcntl.LOCK_EX)
            if passing and not _is(path, handle):
                continue  # who held it has removed the file meanwhile: it locks nothing any more
            try:
                yield
            finally:
                if passing:
                    path.unlink(missing_ok=True)
            return


@contextmanager
def locked_now(path: Path) -> Iterator[None]:
    """Like `locked`, but waits for nobody.

    Raises:
        BlockingIOError: another process holds the lock, or held it and has removed it just now.
    """
    with _opened(path) as handle:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not _is(path, handle):
            raise BlockingIOError(errno.EWOULDBLOCK, "the lock has been removed", str(path))
        yield


def is_held(path: Path) -> bool:
    """Whether a process holds the lock."""
    if not path.exists():
        return False
    try:
        with locked_now(path):
            return False
    except BlockingIOError:
        return True


def _is(path: Path, handle: int) -> bool:
    """Whether the file that is open is the one that has the name."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(handle))
    except FileNotFoundError:
        return False


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR | os.O_CREAT, 0o644)
    try:
        yield handle
    finally:
        os.close(handle)
