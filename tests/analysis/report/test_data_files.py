# SPDX-License-Identifier: BSD-3-Clause
"""A report's data as files: what the page shows, not rounded, with units."""

import csv
import json
from pathlib import Path
from urllib.parse import quote

import pytest

from analysis.report import content, data_files, page
from analysis.report.content import Cell, Column, Table
from analysis.report.series import load_runs
from harness.cli import main


@pytest.fixture(scope="module")
def report(runs: list[Path]) -> content.Report:
    return page.content(load_runs(runs))


def test_values_are_not_rounded_and_headings_have_units() -> None:
    columns = (
        Column("field"),
        Column("cycles waited", "core cycles", "{:.0f}".format),
        Column("hidden", "count", str, shown=False),
    )
    table = Table("t", "Title", columns, [("a, b", 1 / 3, 7), (Cell("c", "C!"), Cell(None, ""), None)], "of a run.")
    assert data_files.csv_text(table).split("\r\n") == [
        "field,cycles waited (core cycles),hidden (count)",
        '"a, b",0.3333333333333333,7',
        "c,,",
        "",
    ]
    whole = json.loads(data_files.json_text(table))
    assert whole["columns"][1] == {"name": "cycles waited", "unit": "core cycles"}
    assert whole["rows"] == [["a, b", 1 / 3, 7], ["c", None, None]]
    assert (whole["id"], whole["title"], whole["note"]) == ("t", "Title", "of a run.")
    shown = [[text for _, _, text in row] for row in table.cells()]
    assert shown == [["a, b", "0"], ["C!", ""]]


def test_csv_and_json_have_the_same_and_every_figure_a_file(report: content.Report, tmp_path: Path) -> None:
    tables = report.tables()
    assert data_files.write_csv(report, tmp_path / "csv") == data_files.write_json(report, tmp_path / "json") == len(tables)
    for table in tables:
        with open(tmp_path / "csv" / f"{table.id}.csv", newline="", encoding="utf-8") as file:
            header, *rows = csv.reader(file)
        whole = json.loads((tmp_path / "json" / f"{table.id}.json").read_text())
        assert header == [f"{one['name']} ({one['unit']})" if one["unit"] else one["name"] for one in whole["columns"]]
        assert rows == [["" if value is None else str(value) for value in row] for row in whole["rows"]]
        assert len(rows) == len(table.rows) > 0
        assert all(column.unit or column.format in (None, str) for column in table.columns), "a figure has a unit"
    assert data_files.write_svg(report, tmp_path / "svg") == len(report.figures()) >= 2
    assert sorted(path.stem for path in (tmp_path / "svg").iterdir()) == sorted(figure.id for figure in report.figures())


def test_files_have_what_the_page_rounds(report: content.Report) -> None:
    table = next(table for table in report.tables() if table.id == "micro-open-close-table")
    rates = [row[[column.unit for column in table.columns].index("opens per second and core")] for row in table.values()]
    assert rates == [50_000.0, 9_000.0, 1_234.5]
    assert "1,234<" in page.html(report)


def test_the_command(
    runs: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("harness.run.run_directory.fault", lambda folder: "")
    folders = {kind: tmp_path / kind for kind in ("csv", "json", "svg")}
    options = [text for kind, folder in folders.items() for text in (f"--{kind}", str(folder))]
    assert main.main(["report", *map(str, runs), *options, "--report", str(tmp_path / "report.html")]) == 0
    assert {kind: bool(list(folder.glob(f"*.{kind}"))) for kind, folder in folders.items()} == dict.fromkeys(folders, True)
    said = capsys.readouterr().out
    assert [f"tables: {folders['csv']}" in said, f"figures: {folders['svg']}" in said] == [True, True]
    written = (tmp_path / "report.html").read_text()
    for path in folders["csv"].iterdir():
        assert f'download="{path.name}"' in written


def test_what_the_script_makes_json_from(report: content.Report) -> None:
    """Columns have numbers or texts, so that the page can tell from a table's CSV which are which."""
    for table in report.tables():
        found = data_files.numbers(table)
        for row in table.values():
            kinds = [isinstance(value, str) for value in row]
            assert not any(kinds[place] for place in found)
            assert all(
                kind or value is None for place, (kind, value) in enumerate(zip(kinds, row, strict=True)) if place not in found
            )


def test_a_table_in_a_reference_is_quoted_as_urllib_does_it() -> None:
    text = "".join(map(chr, range(1, 300))) * 2 + 'a,"b c"\r\n\N{EN DASH},µs,100 %\r\n'
    assert page._quoted(text) == quote(text, safe=page._IN_A_REFERENCE)
