# SPDX-License-Identifier: BSD-3-Clause
"""The report as one HTML file that needs nothing else, readable on its own by a student.

What is in it is in `content` and `chapters`; here it is only put into a page (report.html.j2, report.css, report.js). The same
runs give the same bytes.
"""

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import jinja2
from markupsafe import Markup

from analysis.report import chapters, figures
from analysis.report.content import Chapter, Figure, Report, Table, Value
from analysis.report.data_files import about, csv_text, numbers
from analysis.report.runs import Run
from common.outcome import bad_input

_FOLDER = Path(__file__).parent
_IN_A_REFERENCE = ",;:/()!*@$+=?[]|~^{}'"
"""Characters that a data URL in an attribute may have as they are, besides letters, digits and _.-~"""
_NOT_IN_A_REFERENCE = re.compile(rf"[^A-Za-z0-9_.~\-{re.escape(_IN_A_REFERENCE)}]+")


def write(
    loaded: Sequence[Run],
    out: Path,
    width: float | None = None,
    diff: tuple[Run, Run] | None = None,
    first: Sequence[Chapter] = (),
    brief: bool = False,
) -> None:
    """Write the report on runs as `load_runs` orders them to the file ``out``; ``width``, ``diff`` and ``brief`` as in
    `chapters.report`.

    ``first`` are chapters that come before all others.

    Raises:
        Failure: bad-input, if there are no runs or a table of one cannot be read.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    report = content(loaded, width, diff, brief=brief)
    out.write_text(html(replace(report, chapters=(*first, *report.chapters))), encoding="utf-8")


def content(
    loaded: Sequence[Run], width: float | None = None, diff: tuple[Run, Run] | None = None, *, brief: bool = False
) -> Report:
    """What the report on runs consists of; arguments and failures as of `write`."""
    if not loaded:
        raise bad_input("There are no runs to report on.", "Run a point first, for example `run.py lab`.")
    return chapters.report(loaded, width, diff, brief=brief)


def html(report: Report) -> str:
    """The page."""
    identifiers = Counter(
        [chapter.anchor for chapter in report.chapters]
        + [section.anchor for chapter in report.chapters for section in chapter.sections]
        + [table.id for table in report.tables()]
        + [figure.id for figure in report.figures()]
    )
    twice = [name for name, count in identifiers.items() if count > 1]
    assert not twice, f"identifiers that a report has twice: {twice}"
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_FOLDER),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {"csv_url": _csv_url, "about": _about, "picture": _picture, "raw": _raw, "shade": _shade}
    return environment.get_template("report.html.j2").render(report=report, style=_file("report.css"), script=_file("report.js"))


def _file(name: str) -> Markup:
    return Markup((_FOLDER / name).read_text(encoding="utf-8"))


def _csv_url(table: Table) -> str:
    return f"data:text/csv;charset=utf-8,{_quoted(csv_text(table))}"


def _quoted(text: str) -> str:
    """As `quote` does it, which looks at each byte on its own; most of a table may stand as it is."""
    return _NOT_IN_A_REFERENCE.sub(lambda found: quote(found[0], safe=""), text)


def _about(table: Table) -> str:
    """What the page's script needs besides a table's CSV to make its JSON."""
    return json.dumps({"about": about(table), "numbers": numbers(table)}, ensure_ascii=False, separators=(",", ":"))


def _picture(figure: Figure) -> Markup:
    return Markup(figures.inline(figure.draw(), figure.id, figure.title))


def _raw(value: Value) -> str:
    """What a column is sorted or filtered by; empty where it is not known or does not apply."""
    return "" if value is None else value if isinstance(value, str) else repr(value)


def _shade(heat: float) -> str:
    """Style of a cell as dark as ``heat`` says, from white to blue; its text is black or white, with 4.5:1 contrast at least."""
    light, dark = (255, 255, 255), (16, 78, 122)
    colour = [round(a + (b - a) * (0.04 + 0.96 * heat)) for a, b in zip(light, dark, strict=True)]
    return f"background:rgb({','.join(map(str, colour))});color:{'#000' if _luminance(colour) > 0.179 else '#fff'}"


def _luminance(colour: Sequence[int]) -> float:
    """Relative luminance of an sRGB colour, from 0 to 1 (WCAG 2.1)."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in (one / 255 for one in colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
