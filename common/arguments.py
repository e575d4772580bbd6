# SPDX-License-Identifier: BSD-3-Clause
"""Types of command-line arguments, for argparse."""

import argparse


def positive(text: str) -> int:
    """A whole number of 1 or more.

    Raises:
        ArgumentTypeError: it is another text.
    """
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number of 1 or more")
    return int(text)


def counts_of_cores(text: str) -> tuple[int, ...]:
    """Numbers of cores, "1,12,48".

    Raises:
        ArgumentTypeError: one of them is no number.
    """
    return tuple(map(positive, text.split(",")))
