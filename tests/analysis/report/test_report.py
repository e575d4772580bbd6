# SPDX-License-Identifier: BSD-3-Clause
"""What is in the page, and the terminal tables."""

import json
import re
import shutil
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console

from analysis.report.page import content, write
from analysis.report.runs import Run
from analysis.report.series import load_runs
from analysis.report.tables import show
from common.outcome import Failure


@pytest.fixture(scope="module")
def page(runs: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    write(load_runs(runs), path)
    return path


class _Page(HTMLParser):
    """Cells of all tables by kind, identifiers, links and other references."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: list[tuple[str, list[list[str]]]] = []
        self.ids: list[str] = []
        self.references: list[str] = []
        self.text = ""
        self._in_cell = False
        self._kind = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.references += [values[name] for name in ("src", "href", "xlink:href", "data", "srcset", "action") if name in values]
        if "id" in values:
            self.ids.append(values["id"])
        if tag == "div" and values.get("class", "").startswith("table "):
            self._kind = values["class"].removeprefix("table ")
        elif tag == "table":
            self.tables.append((self._kind, []))
        elif tag == "tr" and self.tables:
            self.tables[-1][1].append([])
        elif tag in ("td", "th"):
            self._in_cell = True
            self.tables[-1][1][-1].append("")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._in_cell = False
        elif tag == "table":
            self._kind = ""

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._in_cell:
            self.tables[-1][1][-1][-1] += data

    def rows(self, name: str) -> list[list[str]]:
        """Cells of the first table of that kind, white space collapsed."""
        table = next(rows for kind, rows in self.tables if kind == name)
        return [[" ".join(cell.split()) for cell in row] for row in table]


def _parse(text: str) -> _Page:
    parser = _Page()
    parser.feed(text)
    return parser


def test_what_is_in_the_page(page: Path) -> None:
    html = page.read_text()
    dom = _parse(html)

    throughput = dom.rows("throughput")
    assert [row[1] for row in throughput[1:]] == ["1", "12", "48"]
    assert throughput[3][2:4] == ["1,234", "0.02"]
    hot = dom.rows("lines")[1]
    assert "dentry.d_lockref.lock_count" in hot[1]
    assert "shared-file" in hot[1]
    assert ", home 1" in hot[1]
    assert "48" in hot[2]
    assert hot[3] == "10,007"
    assert "dput" in hot[-1]
    assert "toy_kernel.c:" in hot[-1]
    bottlenecks = dom.rows("bottlenecks")
    assert "Reference count of a directory entry" in bottlenecks[1][2]
    assert any("No entry of the catalogue" in row[2] for row in bottlenecks)
    assert "./run.py run 'workload=<micro> * cores=1'" in dom.text  # escaped, and unescaped again by the parser

    # Nothing from outside, and no anchor twice.
    assert all(reference.startswith(("#", "data:,", "data:text/csv")) for reference in dom.references)
    assert len(dom.ids) == len(set(dom.ids))
    assert {reference[1:] for reference in dom.references if reference.startswith("#")} <= set(dom.ids)


def test_every_table_names_its_engine(page: Path) -> None:
    text = page.read_text()
    captions = re.findall(r"<(?:fig)?caption.*?</(?:fig)?caption>", text, flags=re.DOTALL)
    assert len(captions) >= 15
    silent = [caption for caption in captions if "fast engine" not in caption and "engine: fast" not in caption]
    assert [re.sub("<.*?>|#", "", caption).strip() for caption in silent] == ["Words", "Runs"]


def test_what_an_engine_says_of_itself_is_in_table_and_page(runs: list[Path], tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(runs[2], folder)
    said = json.loads((folder / "provenance.json").read_text())
    said["engine"] |= {"name": "third", "note": "no clock", "cycles": "guessed"}
    (folder / "provenance.json").write_text(json.dumps(said))
    (folder / "point.toml").write_text((folder / "point.toml").read_text().replace('engine = "fast"', 'engine = "third"'))
    out = StringIO()
    show(load_runs([folder]), Console(file=out, width=250))
    assert "third (no clock) engine; cycles are guessed" in out.getvalue()
    write(load_runs([folder]), tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    assert "third (no clock) engine; cycles are guessed" in text
    assert "a model" not in text


def test_the_same_runs_give_the_same_page(page: Path, runs: list[Path], tmp_path: Path) -> None:
    write(load_runs(reversed(runs)), tmp_path / "again.html")
    assert (tmp_path / "again.html").read_bytes() == page.read_bytes()


def test_what_an_engine_does_not_know_is_a_dash(page: Path) -> None:
    tables = [rows for kind, rows in _parse(page.read_text()).tables if kind == "throughput"]
    assert tables[1][1][4].strip() == "\N{EN DASH}"


def test_no_runs(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="no runs"):
        write([], tmp_path / "report.html")


def test_not_a_run(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="is not a complete run"):
        load_runs([tmp_path])


def test_shares(runs: list[Path]) -> None:
    run = Run(runs[2])
    total = 10_007 + 500 + 50 + 40 + 30 + 20 + 1
    assert run.totals["transfers_other_socket"] == total
    assert run.totals["l2_hits"] == 0
    assert sum(share.transfers_share for share in run.bottlenecks()) == pytest.approx(1)
    assert run.attributed == pytest.approx((total - 20) / total)
    assert run.origins["user"] == pytest.approx(20 / total)
    # mystery.users and futexes[].lock are in no rule. The instruction at the free page is the one that reaches the dentry.
    assert run.unexplained == pytest.approx(90 / total)
    assert run.matrix_of(["write"])[1, 0] == 23


def test_a_reader_counts_with_the_writer_of_its_line(runs: list[Path], tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(runs[2], folder)
    sites = pq.read_table(folder / "sites.parquet")
    row = sites.to_pylist()[0] | {"field": "widget.count", "writes": 0, "pc": 1}
    pq.write_table(pa.concat_tables([sites, pa.Table.from_pylist([row], sites.schema)]), folder / "sites.parquet")
    share = next(share for share in Run(folder).bottlenecks() if share.bottleneck.id == "dentry-reference-count")
    assert share.other_socket == 2 * 10_007 + 1  # and the free page
    assert share.top("fields") == ["dentry.d_lockref.lock_count", "widget.count"]


def test_terminal_tables(runs: list[Path]) -> None:
    out = StringIO()
    show(load_runs(runs), Console(file=out, width=200), details=True)
    text = out.getvalue()
    assert "dentry.d_lockref.lock_count" in text
    assert "toy_kernel.c:" in text
    assert "1,234" in text
    assert "No entry of the catalogue explains it" in text


def test_a_brief_one_has_no_chapter_on_a_workload(runs: list[Path], page: Path, tmp_path: Path) -> None:
    loaded = load_runs(runs)
    whole, brief = content(loaded), content(loaded, brief=True)
    workloads = {run.workload for run in loaded}
    assert workloads <= {chapter.title for chapter in whole.chapters}
    assert [chapter for chapter in whole.chapters if chapter.title not in workloads] == list(brief.chapters)
    write(loaded, tmp_path / "brief.html", brief=True)
    assert (tmp_path / "brief.html").stat().st_size < page.stat().st_size
