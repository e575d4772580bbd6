# SPDX-License-Identifier: BSD-3-Clause
"""The page on the data: its examples run as they stand, and what it says of keys is what files have."""

import json
import re
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest
from fake_runs import builds, point
from toy import Toy, compile_kernel

from analysis.attribute.run_tables import OfMemory, write_run_tables
from common.paths import REPOSITORY
from harness.run import runner
from harness.spec.metric_keys import KEYS, odd

PAGE = (REPOSITORY / "docs" / "reference" / "data.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """The page's code blocks in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the runs ID and OTHER below ``runs``."""
    root = tmp_path_factory.mktemp("data")
    toy = Toy(compile_kernel(root))
    for name, cores in (("ID", 48), ("OTHER", 1)):
        toy.write_run(root / "runs" / name, cores=cores)
        write_run_tables(root / "runs" / name, toy.vmlinux)
    return root


def test_pandas(runs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(runs)
    said = []
    names: dict[str, object] = {}
    for block in blocks("python"):  # one session: each goes on where the one before ended
        exec(compile(block, "docs/reference/data.md", "exec"), names)
        said.append(capsys.readouterr().out)
    fields, shares, metadata = said
    assert fields.splitlines()[2].split()[:2] == ["dentry.d_lockref.lock_count", "10008"]
    shown = names["shares"]
    assert [round(value, 9) for value in shown.sum(axis="columns")] == [1.0] * 48  # type: ignore[attr-defined]
    assert "other_socket_cycles" in shares or "..." in shares
    assert metadata.split() == ["fast", "48", "2.4"]


def test_duckdb(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(runs)
    hottest, functions = (duckdb.execute(block).fetchall() for block in blocks("sql"))
    lines = pq.read_table("runs/ID/lines.parquet").num_rows
    assert len(hottest) == min(10, 2 * lines)  # each line of each run once
    assert {Path(row[0]).parent.name for row in hottest} == {"ID", "OTHER"}
    assert hottest[0][1] == "dentry.d_lockref.lock_count"
    assert functions == [("dput", pytest.approx(23 / 28)), ("user", pytest.approx(5 / 28))]


def test_metadata(runs: Path) -> None:
    part = PAGE[PAGE.index("## What a table is of") :].partition("\n## ")[0]
    for path in (runs / "runs" / "ID").glob("*.parquet"):
        metadata = {key.decode() for key in pq.read_schema(path).metadata or {}} - {"ARROW:schema"}
        assert metadata == set(re.findall(r"^\| `(\w+)` \|", part, re.MULTILINE)), path.name


def test_metrics_have_the_keys_of_the_page(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("analysis.attribute.run_tables.write_run_tables", lambda *given: OfMemory({}, []))
    monkeypatch.setattr("analysis.report.kept_tables.find", lambda folder: None)
    ran = runner.run_point(point(), tmp_path, builds=builds("ok"))
    metrics = json.loads((ran.folder / "metrics.json").read_text())
    assert odd(metrics) == []
    assert odd([*metrics, "speed"]) == ["speed"]
    assert odd(set(metrics) - {"units"}) == ["units"]
    for name, key in KEYS.items():
        assert f"| `{name}` | {key.unit} | {key.meaning}" in PAGE
        assert name not in metrics or metrics[name] is not None or key.null, name
