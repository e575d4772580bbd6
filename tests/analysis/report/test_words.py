# SPDX-License-Identifier: BSD-3-Clause
"""One meaning for a word, in terminal and page; tables say what they are about; a handful of transfers is not ranked."""

import html
import json
import re
import shutil
import tomllib
from importlib.resources import files
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from rich.table import Table

from analysis.report.ablations import IN_ORDER, Ablation, ablations
from analysis.report.cells import whole_heading
from analysis.report.detail_tables import bottleneck_table, hot_line_table, time_table
from analysis.report.page import write
from analysis.report.runs import FEW, HANDFUL, Run
from analysis.report.series import load_runs
from analysis.report.tables import ablation_table, overview_table, show
from analysis.report.words import UNKNOWN, cores_text, load_words, singular


def terminal(runs: list[Run]) -> str:
    out = StringIO()
    show(runs, Console(file=out, width=250), details=True)
    return out.getvalue()


def page(runs: list[Run], folder: Path) -> str:
    write(runs, folder / "report.html")
    return (folder / "report.html").read_text()


@pytest.fixture
def quiet(runs: list[Path], tmp_path: Path) -> Run:
    """A run with as many transfers as the others but a thousand times the work."""
    shutil.copytree(runs[2], tmp_path / "quiet")
    metrics = json.loads((runs[2] / "metrics.json").read_text())
    (tmp_path / "quiet" / "metrics.json").write_text(json.dumps(metrics | {"units": 1_000_000}))
    (run,) = load_runs([tmp_path / "quiet"])
    return run


def headers(table: Table) -> list[str]:
    return [whole_heading(str(column.header)) for column in table.columns]


@pytest.mark.parametrize(
    ("units", "one"),
    [("queries", "query"), ("accesses", "access"), ("children", "child"), ("messages", "message"), ("hand-offs", "hand-off")],
)
def test_one_of_a_unit_of_work(units: str, one: str) -> None:
    assert singular(units) == one


def test_headings_say_which_transfers_and_which_cycles(runs: list[Path], compared: list[Path], tmp_path: Path) -> None:
    (run,), many = load_runs(runs[2:3]), load_runs(compared)
    shown = [
        overview_table([run], 160),
        hot_line_table(run),
        bottleneck_table(run),
        *(ablation_table(one, 160) for one in ablations(many)),
        time_table([run]),
    ]
    found = [text for table in shown for text in headers(table)] + [
        load_words()[word].heading for word in ("field", "instructions")
    ]
    assert all(word in str(hot_line_table(run).caption) for word in found[-2:])
    text = page([run, *many], tmp_path)
    found += [html.unescape(re.sub("<[^>]*>", " ", cell)).strip() for cell in re.findall('<th scope="col".*?</th>', text)]
    for heading in found:
        assert "transfers" not in heading or re.search(r"(cross|same)-socket transfers|all transfers", heading), heading
        assert "cycles" not in heading or re.search(r"cycles waited", heading), heading
        assert "call site" not in heading
    for word in ("cross_socket", "same_socket", "share_of_transfers", "share_of_cycles", "cycles", "instructions", "attributed"):
        assert found.count(load_words()[word].heading) >= 2, word  # the terminal and the page write it alike


def test_a_word_has_one_meaning() -> None:
    entries = tomllib.loads(files("analysis.report").joinpath("words.toml").read_text("utf-8"))["word"]
    assert len(load_words()) == len(entries)
    names = [word.name for word in load_words().values()]
    assert len(set(names)) == len(names)


def test_every_word_is_explained_in_the_page(runs: list[Path], tmp_path: Path) -> None:
    text = html.unescape(page(load_runs(runs), tmp_path))
    for word in load_words().values():
        name = f'<th scope="row" data-label="word"><div>{word.name}</div></th>'
        assert f'{name}<td data-label="meaning"><div>{word.meaning}</div></td>' in text


def test_tables_name_kernel_machine_parameters_and_cores(runs: list[Path], tmp_path: Path) -> None:
    (run,) = load_runs(runs[2:3])
    wanted = "micro:open-close (iterations=100), 48 cores, linux-6.1 stock, opteron-8431, fast engine"
    assert run.caption == wanted
    assert [str(table.title) for table in (hot_line_table(run), bottleneck_table(run))] == [
        f"Hot lines: {wanted}; cycles are a model's",
        f"Bottlenecks: {wanted}",
    ]
    table = overview_table([run], 160)
    assert str(table.title) == "Throughput: linux-6.1 stock, opteron-8431, fast engine; cycles are a model's"
    assert next(iter(table.columns[0].cells)) == "micro:open-close (iterations=100): opens"
    assert page([run], tmp_path).count(f"{wanted}.") >= 4


def test_one_core_and_no_fault(runs: list[Path]) -> None:
    (run,) = load_runs(runs[:1])
    run.point["parameters"] = {"fault": "none", "iterations": "100"}
    assert run.caption.startswith("micro:open-close (iterations=100), 1 core, ")
    run.point["parameters"]["fault"] = "flip-byte"
    assert run.work == "micro:open-close (fault=flip-byte, iterations=100)"
    assert [cores_text(count) for count in (1, 2, 48)] == ["1 core", "2 cores", "48 cores"]


def test_with_two_kernels_each_has_its_hot_lines(compared: list[Path]) -> None:
    text = terminal([run for run in load_runs(compared) if run.application == "exim"])
    assert [
        text.count(f"Hot lines: exim:open-close (iterations=100), 48 cores, linux-6.1 {kernel}") for kernel in ("stock", "pk")
    ] == [1, 1]


def test_of_many_kernels_the_first_and_the_last(compared: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("analysis.report.detail_tables._DETAILED", 3)
    text = terminal([run for run in load_runs(compared) if run.application == "micro"])
    assert [kernel in text for kernel in ("48 cores, linux-6.1 stock", "48 cores, linux-6.1 pk", "48 cores, linux-6.1 + b")] == [
        True,
        True,
        False,
    ]
    assert "Lines, bottlenecks and functions of the other 2 series are in the report." in text


def test_a_handful_of_transfers_is_not_ranked(quiet: Run, tmp_path: Path) -> None:
    assert quiet.cross_socket_counts is False
    assert quiet.transfers_count is False
    moved = 10_648 + sum(count // 10 for count in (10_007, 500, 50, 40, 30, 20, 1))
    said = f"hardly a line moves between cores ({moved:,} transfers in 1,000,000 opens)"
    for text in (terminal([quiet]), page([quiet], tmp_path)):
        assert said in text
        assert "dentry.d_lockref" not in text
        assert "Bottlenecks:" not in text
    row = dict(zip(headers(time_table([quiet])), *time_table([quiet]).rows_of_figures(), strict=True))
    assert (row["attributed"], row["unexplained"]) == ("", "")
    assert row["cross-socket transfers"] == "10,648"


def test_one_threshold(runs: list[Path]) -> None:
    run = Run(runs[2])
    for units, enough in ((10_648 / FEW, True), (10_648 / FEW + 1, False), (1, True)):
        run.metrics["units"] = units
        assert run.cross_socket_counts is enough
    run.summary.totals["transfers_other_socket"] = HANDFUL - 1
    assert run.cross_socket_counts is False
    run.summary.totals["transfers_other_socket"] = None
    assert run.cross_socket_counts is None


def test_transfers_within_a_socket_alone(runs: list[Path], tmp_path: Path) -> None:
    """Lines are ranked, and no share of the few cross-socket transfers is said."""
    (run,) = load_runs(runs[2:3])
    run.summary.totals["transfers_other_socket"] = 0
    assert run.transfers_count
    table = hot_line_table(run)
    assert {row[0] for row in table.rows_of_figures()} == {""}
    assert "within a socket the line that moves most is of dentry.d_lockref.lock_count" in page([run], tmp_path)


def test_a_dash_is_what_the_engine_cannot_know(runs: list[Path], tmp_path: Path) -> None:
    loaded = load_runs(runs)
    unknown = next(run for run in loaded if run.part("user") is None)
    for made, names in ((time_table([unknown]), ["user", "system", "idle"]), (overview_table([unknown], 160), ["idle"])):
        (row,) = made.rows_of_figures()
        assert [name for name, cell in zip(headers(made), row, strict=True) if cell == UNKNOWN] == names
    known = next(run for run in loaded if run.cores == 48)
    one = Ablation(IN_ORDER, (known,), ("stock",))
    for table in (overview_table([known], 160), time_table([known]), bottleneck_table(known), ablation_table(one, 160)):
        assert not any(UNKNOWN in cell for column in table.columns for cell in map(str, column.cells))
    assert page([known], tmp_path).count(f">{UNKNOWN}<") == 0


def test_what_tells_two_machines_apart_is_not_cut_off_on_a_narrow_terminal(runs: list[Path]) -> None:
    run, same = load_runs(runs[2:3])[0], load_runs(runs[2:3])[0]
    run.distinctions, same.distinctions = ("hop_cycles=64",), ("hop_cycles=127",)
    out = StringIO()
    Console(file=out, width=60).print(overview_table([run, same], 60))
    assert "hop_cycles=64" in out.getvalue()
    assert "hop_cycles=127" in out.getvalue()
    assert "\N{HORIZONTAL ELLIPSIS}" not in out.getvalue()
