# SPDX-License-Identifier: BSD-3-Clause
"""From raw records to what a line holds and which code touched it: kernel types, fields, functions and source lines.

Reads run directories and the kernel's debug information; knows nothing of the engine that made them.
"""

import os


def _load_drgn() -> None:
    """Load drgn with one thread for its index of the debug information.

    Which of several variables or types of one name it finds depends on which thread came first; with one it is always the same,
    and no slower for a kernel (0.4 s). OpenMP reads the environment once, when the library is loaded; other users of it keep
    their own number of threads.
    """
    before = os.environ.get("OMP_NUM_THREADS")
    os.environ["OMP_NUM_THREADS"] = "1"
    try:
        import drgn  # noqa: F401
    finally:
        if before is None:
            del os.environ["OMP_NUM_THREADS"]
        else:
            os.environ["OMP_NUM_THREADS"] = before


_load_drgn()
