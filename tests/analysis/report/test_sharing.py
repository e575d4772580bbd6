# SPDX-License-Identifier: BSD-3-Clause
"""Sharing of a line: which bytes which cores read and write, and whether they share bytes or the line only."""

import shutil
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Any, Protocol

import pytest
from records_file import write_parquet
from rich.console import Console

from analysis.report.line_sharing import Kind, Sharing, core_text, cores_of, sharing
from analysis.report.page import write
from analysis.report.runs import Run
from analysis.report.series import load_runs
from analysis.report.sharing import sections, table

LINE = 0x4000
A, B, C = 1 << 0, 1 << 1, 1 << 2
BOTH = A | B

Site = tuple[int, int, int, int, int]  # offset, size, cores, accesses, writes


class Make(Protocol):
    def __call__(self, sites: Sequence[Site], card: tuple[int, int] = (0, 0)) -> Sharing: ...


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """A line with these sites, the first at program counter 0, each further one at the next."""

    def made(sites: Sequence[Site], card: tuple[int, int] = (0, 0)) -> Sharing:
        write_parquet(tmp_path, "lines", {"paddr": [LINE, LINE + 64], "card_reads": [card[0], 9], "card_writes": [card[1], 9]})
        columns: dict[str, list[Any]] = {
            "paddr": [LINE] * len(sites) + [LINE + 64],
            "pc": [*range(len(sites)), 0],
            "cycles": [*range(len(sites), 0, -1), 1000],
        }
        for place, name in enumerate(("offset", "size", "cores", "accesses", "writes")):
            columns[name] = [*(site[place] for site in sites), 1]
        columns["field"] = [f"struct.f{site[0]}" for site in sites] + ["other"]
        columns["function"] = [f"fn{place}" for place in range(len(sites))] + ["elsewhere"]
        columns["file"] = ["a.c"] * len(sites) + [None]
        write_parquet(tmp_path, "sites", columns)
        (found,) = sharing(tmp_path, [LINE]).values()
        return found

    return made


@pytest.mark.parametrize(
    ("sites", "kind", "true", "false"),
    [
        ([(0, 8, BOTH, 10, 10)], Kind.TRUE, 1, 0),  # both write one counter
        ([(0, 8, A, 10, 10), (0, 8, B, 10, 0)], Kind.TRUE, 1, 0),
        ([(0, 8, A, 10, 10), (4, 4, B, 10, 0)], Kind.TRUE, 1, 0),  # a half of what the other writes
        ([(0, 4, A, 10, 10), (4, 4, B, 10, 0)], Kind.FALSE, 0, 1),
        ([(0, 4, A, 10, 10), (4, 4, B, 10, 10), (8, 4, C, 1, 1)], Kind.FALSE, 0, 3),
        ([(0, 4, A, 10, 10), (8, 8, BOTH, 10, 0)], Kind.FALSE, 0, 1),  # what both touch nobody writes
        ([(0, 4, BOTH, 10, 5), (4, 4, C, 10, 0)], Kind.MIXED, 1, 2),
        ([(0, 4, BOTH, 10, 5), (4, 4, BOTH, 10, 10)], Kind.TRUE, 1, 0),  # neighbours that the same cores use
        ([(0, 4, BOTH, 10, 0), (4, 4, C, 10, 0)], Kind.READ, 0, 0),
        ([(0, 4, A, 10, 5), (60, 4, A, 10, 0)], Kind.ONE, 0, 0),
        ([(0, 64, A, 1, 1), (63, 1, B, 1, 0)], Kind.TRUE, 1, 0),
    ],
)
def test_true_and_false(make: Make, sites: list[Site], kind: Kind, true: int, false: int) -> None:
    found = make(sites)
    assert (found.kind, found.true_pairs, found.false_pairs) == (kind, true, false)
    assert (str(true) in found.sentence) or not true
    assert kind.value.split()[0] in found.sentence or kind is Kind.READ


def test_bytes_have_readers_writers_fields_and_places(make: Make) -> None:
    found = make([(8, 4, A, 10, 4), (0, 8, B, 5, 0), (8, 4, C, 3, 3)])
    first, second = found.parts
    assert (first.offset, first.size, first.readers, first.writers) == (0, 8, B, 0)
    assert (second.offset, second.readers, second.writers) == (8, A, A | C)
    assert (second.accesses, second.writes, second.cycles) == (13, 7, 4)
    assert second.places == ("fn0 a.c", "fn2 a.c")  # by cycles
    assert second.fields == ("struct.f8",)


def test_the_card_is_among_those_who_touch_a_line(make: Make) -> None:
    assert "the card" not in make([(0, 4, A, 10, 5)]).sentence
    assert make([(0, 4, A, 10, 5)]).sentence == "one core alone touches it"
    assert make([(0, 4, A, 10, 5)], card=(3, 0)).sentence == "one core touches it; the card read it 3 times"
    both = make([(0, 8, BOTH, 10, 10)], card=(1, 2000)).sentence
    assert both.endswith("the other touches; the card read it 1 time and wrote it 2,000 times")


def test_sets_of_cores() -> None:
    assert core_text(0) == "none"
    assert core_text(0b1111_0000_0101) == "0, 2, 8-11"
    assert core_text((1 << 48) - 1) == "0-47"
    assert cores_of(1 << 63 | 1) == [0, 63]


def test_a_line_in_the_terminal(make: Make) -> None:
    out = StringIO()
    Console(file=out, width=80).print(table(make([(0, 4, BOTH, 10, 5), (4, 4, C, 10, 0)]), "struct.f0"))
    text = out.getvalue()
    assert all(len(line) <= 80 for line in text.splitlines())
    assert "mixed: true sharing of 1 and false of 2 of 3 pairs of cores" in " ".join(text.split())
    assert "fn0 a.c" in text
    assert "0-3" in text


def test_the_report_shows_the_hottest_lines(runs: list[Path], tmp_path: Path) -> None:
    (run,) = load_runs(runs[2:3])
    (section,) = sections(run, "a")
    (shown,) = section.tables
    first = dict(zip((column.heading for column in shown.columns), shown.values()[0], strict=True))
    assert first["line"] == "dentry.d_lockref.lock_count"
    assert first["sharing"] == "true"
    assert first["cores that write"] == "0-47"
    assert first["size"] == 4
    found = sharing(run.folder, [run.hot_lines(1)[0].paddr])
    assert next(iter(found.values())).true_pairs == 48 * 47 // 2
    write([run], tmp_path / "report.html")
    assert "true sharing: of 1,128 of 1,128 pairs of cores one writes" in (tmp_path / "report.html").read_text()


def test_no_sharing_where_hardly_a_line_moves(runs: list[Path], tmp_path: Path) -> None:
    shutil.copytree(runs[2], tmp_path / "quiet")
    run = Run(tmp_path / "quiet")
    run.metrics["units"] = 10**9
    assert sections(run, "a") == []
