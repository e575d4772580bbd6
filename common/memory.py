# SPDX-License-Identifier: BSD-3-Clause
"""How much memory this host has left, and work that may not ask for more."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_HOST, _PROCESS = Path("/proc/meminfo"), Path("/proc/self/status")


def available() -> int:
    """Bytes that the host's kernel can give without taking them from somebody.

    Raises:
        OSError: if the kernel does not say.
    """
    return _bytes(_HOST, "MemAvailable")


@contextmanager
def no_more_than_there_is() -> Iterator[None]:
    """In the body whoever asks for more memory than the host has left gets a MemoryError, and the kernel ends no process."""
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    limit = _bytes(_PROCESS, "VmData") + available() + _bytes(_HOST, "SwapFree")
    resource.setrlimit(resource.RLIMIT_DATA, (min(one for one in (soft, limit) if one != resource.RLIM_INFINITY), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _bytes(path: Path, name: str) -> int:
    """A line such as ``MemAvailable:   1024 kB``; 0 where there is none."""
    for line in path.read_text(encoding="ascii").splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) << 10
    return 0
