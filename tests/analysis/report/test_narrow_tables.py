# SPDX-License-Identifier: BSD-3-Clause
"""No figure is cut at 80 columns, and what is written with a prefix is the same figure."""

import re
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from analysis.report.cells import narrow_heading, whole_heading
from analysis.report.series import load_runs
from analysis.report.tables import show
from analysis.report.words import amount, amounts, load_words, si


def shown(folders: list[Path], width: int, details: bool = True) -> str:
    out = StringIO()
    show(load_runs(folders), Console(file=out, width=width), details=details, steps=True, width=0.05)
    return out.getvalue()


@pytest.mark.parametrize("width", [80, 100, 120, 160])
def test_nothing_is_cut_and_no_line_is_too_long(width: int, runs: list[Path], compared: list[Path]) -> None:
    for text in (shown(runs, width), shown(compared, width)):
        assert "\N{HORIZONTAL ELLIPSIS}" not in text
        assert max(map(len, text.splitlines())) <= width


def test_long_tables_only_when_asked_for(runs: list[Path]) -> None:
    short, whole = shown(runs, 100, details=False), shown(runs, 100)
    for title in ("Hot lines:", "Bottlenecks:", "Functions:", "Time and transfers:"):
        assert title not in short
        assert title in whole
    assert whole.startswith(short.rstrip())
    assert short.startswith("micro:open-close (iterations=100)\nWith 48 cores each core does 2 %")
    assert short.count("Throughput:") == 1


def test_si_units() -> None:
    said = [si(value) for value in (None, 0, 0.0417, 25.31, 999, 999.6, 283_407, 999_600, 25_306_000, 1.2346e9, 5e12)]
    assert said == ["\N{EN DASH}", "0", "0.0417", "25.3", "999", "1,000", "283 k", "1.00 M", "25.3 M", "1.23 G", "5.00 T"]
    assert (amounts(80), amounts(99), amounts(100)) == (si, si, amount)
    assert amount(283_407) == "283,407"


def test_headings_are_broken_and_whole_again() -> None:
    for word in load_words().values():
        text = word.heading.format(unit="operations")
        broken = narrow_heading(text)
        assert whole_heading(broken) == text
        assert max(map(len, broken.split("\n")), default=0) <= 12
    assert not re.search(r"\S{13}", narrow_heading("over opteron-8431"))
