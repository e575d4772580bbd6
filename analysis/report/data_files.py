# SPDX-License-Identifier: BSD-3-Clause
"""A report's tables as CSV and JSON files, figures as SVG files, stacks as folded ones: what the page shows, not rounded."""

import csv
import io
import json
from pathlib import Path
from typing import Any

from analysis.report.content import STACKS, Report, Table


def csv_text(table: Table) -> str:
    """Headings with units, then the rows; a value that is not known or does not apply is empty (RFC 4180, UTF-8)."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(column.label for column in table.columns)
    writer.writerows(table.values())
    return out.getvalue()


def json_text(table: Table) -> str:
    """An object with identifier, title, note, columns (name, unit) and rows; what is not known or does not apply is null."""
    return json.dumps({**about(table), "rows": table.values()}, indent=1, ensure_ascii=False) + "\n"


def about(table: Table) -> dict[str, Any]:
    """What the JSON of a table has besides its rows."""
    columns = [{"name": column.heading, "unit": column.unit} for column in table.columns]
    return {"id": table.id, "title": table.title, "note": table.note, "columns": columns}


def numbers(table: Table) -> list[int]:
    """The places of the columns that have numbers."""
    columns = list(zip(*table.values(), strict=True))
    return [place for place, values in enumerate(columns) if not any(isinstance(value, str) for value in values)]


def write_csv(report: Report, folder: Path) -> int:
    """Write ID.csv for each table; returns how many."""
    return _write(folder, {f"{table.id}.csv": csv_text(table) for table in report.tables()})


def write_json(report: Report, folder: Path) -> int:
    """Write ID.json for each table; returns how many."""
    return _write(folder, {f"{table.id}.json": json_text(table) for table in report.tables()})


def write_svg(report: Report, folder: Path) -> int:
    """Write ID.svg for each figure; returns how many."""
    return _write(folder, {f"{figure.id}.svg": figure.draw() for figure in report.figures()})


def write_folded(report: Report, folder: Path) -> int:
    """Write ID.folded for each table of stacks: a line for each, the stack and its weight, as tools for flame graphs read them.
    Returns how many."""
    return _write(folder, {f"{table.id}.folded": folded_text(table) for table in report.tables() if table.kind == STACKS})


def folded_text(table: Table) -> str:
    """``outer;inner;[what is waited for] weight``, a line for each stack of a table of stacks."""
    return "".join(f"{stack} {weight}\n" for stack, weight in sorted(map(tuple, table.values())))


def _write(folder: Path, files: dict[str, str]) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8", newline="")
    return len(files)
