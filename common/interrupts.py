# SPDX-License-Identifier: BSD-3-Clause
"""SIGINT and SIGTERM where it matters at which place they are heard."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

_LOOK_SECONDS = 2.0
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def held() -> Iterator[Callable[[], None]]:
    """While the body runs the signals are only noted; the function that it gets raises KeyboardInterrupt if one was.

    A handler that raises does so between any two instructions of Python, those of the library among them: between taking a lock
    and the ``try`` that gives it back, say. Popen.poll has such a place: a process ended there is waited for in vain. A signal
    that came and was not asked for is raised when the body ends. Only in the main thread.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda: None
        return
    heard: list[int] = []

    def hear(number: int, frame: FrameType | None) -> None:
        heard.append(number)

    def check() -> None:
        if heard:
            heard.clear()
            raise KeyboardInterrupt

    before = {number: signal.signal(number, hear) for number in _SIGNALS}
    try:
        yield check
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    check()


def stop_when(file: Path) -> None:
    """End this process as SIGTERM does when ``file`` is there, now or later.

    Raises:
        KeyboardInterrupt: it is there now.
    """
    if file.exists():
        raise KeyboardInterrupt

    def watch() -> None:
        while not file.exists():
            time.sleep(_LOOK_SECONDS)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True).start()
