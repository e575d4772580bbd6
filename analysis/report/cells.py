# SPDX-License-Identifier: BSD-3-Clause
"""What cells of several tables say, on the terminal and in the page."""

import re
from textwrap import fill

from analysis.report.estimate import Estimate
from analysis.report.runs import Run
from analysis.report.words import Amount, percent

_HEADING_COLUMNS = 10


def share_of_transfers(run: Run, value: float | None) -> str:
    """A share of the run's cross-socket transfers; nothing where there are too few for shares of them."""
    return percent(value) if run.cross_socket_counts is not False else ""


def not_converged(seen: Estimate, width: float | None) -> str:
    """Says so where trials were run for a mean that is known to a share ``width`` of itself, and it is not."""
    return "" if width is None or seen.within(width) else "did not converge"


def range_cell(seen: Estimate, amount: Amount) -> str:
    """The lowest and the highest trial and how many there are; nothing of one."""
    return "" if seen.count == 1 else f"{amount(seen.low)} to\n{amount(seen.high)} ({seen.count})"


def interval_cell(seen: Estimate, width: float | None, amount: Amount) -> str:
    """Half the interval of the mean, and whether it is as narrow as was asked for."""
    half = "" if seen.half_width is None else f"\N{PLUS-MINUS SIGN} {amount(seen.half_width)}"
    return "\n".join(filter(None, [half, not_converged(seen, width).replace("not ", "not\n")]))


def times(ratio: float) -> str:
    """A ratio of two amounts: 0.0712, 1.24, 13.5, 123."""
    return f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.3g}" if ratio >= 10 or ratio < 0.1 else f"{ratio:.2f}"


def narrow_heading(text: str) -> str:
    """A heading on several lines, broken between words, after hyphens and before a slash."""
    wrapped = fill(re.sub(r"(?<=.)/(?=\w{3})", " /", text), _HEADING_COLUMNS, break_long_words=False)
    return wrapped.replace(" /", "/")


def whole_heading(text: str) -> str:
    """What `narrow_heading` was given."""
    return " ".join(text.replace("-\n", "-").replace("\n/", "/").split())
