# SPDX-License-Identifier: BSD-3-Clause
"""Work that makes many objects which all stay: Python's collector of cycles would go over them again and again for nothing."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Without the collector of cycles in the body; what is counted by references is freed as ever."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
