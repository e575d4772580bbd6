# SPDX-License-Identifier: BSD-3-Clause
"""Tables on the terminal."""

import sys

from rich.console import Console

_WIDTH_ELSEWHERE = 160  # columns in a file or a pipe, where nobody breaks lines


def console() -> Console:
    """A console on standard output: as wide as the terminal, and wide enough for the tables where there is none."""
    return Console() if sys.stdout.isatty() else Console(width=_WIDTH_ELSEWHERE)
