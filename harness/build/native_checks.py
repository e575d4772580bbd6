# SPDX-License-Identifier: BSD-3-Clause
"""Where scons builds what tests and checks of the native code run: a folder of the cache for each checkout."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from common.locks import locked
from common.paths import REPOSITORY, cache_root


@contextmanager
def build_folder() -> Iterator[Path]:
    """The folder of this checkout, for scons's ``build_dir``; another process that wants to build there waits."""
    folder = cache_root() / "scons" / hashlib.sha256(str(REPOSITORY).encode()).hexdigest()[:16]
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder, "native code"):
        yield folder
