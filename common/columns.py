# SPDX-License-Identifier: BSD-3-Clause
"""How wide what is written may be: a terminal's columns. Standard library only: run.py needs it before there is anything else."""

import os
import sys
import textwrap
import threading
from typing import TextIO


def columns(stream: TextIO, elsewhere: int) -> int:
    """COLUMNS of the environment, else those of the terminal that ``stream`` goes to; ``elsewhere`` in a file or pipe."""
    named = os.environ.get("COLUMNS", "")
    if named.isdecimal() and int(named):
        return int(named)
    try:
        return os.get_terminal_size(stream.fileno()).columns or elsewhere
    except (OSError, ValueError, AttributeError):
        return elsewhere


def on_one_line(text: str, width: int) -> str:
    """``text`` in at most ``width`` columns, whole words of it: a number is never cut."""
    return text if len(text) <= width else textwrap.shorten(text, max(width, 4), placeholder=" ...", break_on_hyphens=False)


def lines(text: str, width: int, indent: int = 2) -> str:
    """``text`` on lines of at most ``width`` columns, broken between words alone, the second and further ones indented."""
    if len(text) <= width:
        return text
    wide = max(width, indent + 20)
    return "\n".join(textwrap.wrap(text, wide, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False))


WIDTH_ELSEWHERE = 160
"""Columns in a file or a pipe, where nobody breaks lines."""


def tell(text: str, indent: int = 0) -> None:
    """Write a line to standard output, broken at its width; further lines are indented."""
    print(lines(text, columns(sys.stdout, WIDTH_ELSEWHERE), indent))


_ERRORS = threading.RLock()  # who writes to the error stream: a live line comes from a thread of its own


def say(text: str) -> None:
    """Write a sentence to the error stream, in place of a live line: broken at the width of a terminal, on one line elsewhere."""
    with _ERRORS:
        if sys.stderr.isatty():
            text = "\r\033[K" + lines(text, columns(sys.stderr, 80))
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()


def say_live(text: str) -> None:
    """Write a line to a terminal that the next one, or the next sentence, writes over."""
    with _ERRORS:
        sys.stderr.write(f"\r\033[K{on_one_line(text, columns(sys.stderr, 80) - 1)}")
        sys.stderr.flush()
