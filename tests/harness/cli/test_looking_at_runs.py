# SPDX-License-Identifier: BSD-3-Clause
"""`run.py show`, `diff` and what names a run: folders and points, options, and refusals in a sentence."""

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest
from toy import Toy, compile_kernel

from analysis.attribute.run_tables import write_run_tables
from common.outcome import Failure, Outcome
from harness.cli import which
from harness.cli.main import main
from harness.run import run_directory
from harness.spec import point as points

SETTINGS = {"machine": "small-2x2", "workload": "micro:open-close", "cores": "4"}
WORDS = "machine=small-2x2 * workload=micro:open-close * cores=4"

Make = Callable[..., Path]


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Toy:
    return Toy(compile_kernel(tmp_path_factory.mktemp("toy")))


@pytest.fixture
def make(toy: Toy, tmp_path: Path) -> Make:
    """A complete run in a folder of runs: of these settings, with so many transfers of the hot line and so much throughput."""

    def made(transfers: int = 10_007, rate: float = 1000.0, **settings: str) -> Path:
        point = points.resolve({**SETTINGS, **settings})
        folder = tmp_path / "runs" / point.id
        toy.write_run(folder, cores=4, transfers=transfers)
        of_memory = write_run_tables(folder, toy.vmlinux)
        (folder / "engine" / "memory.elf").unlink()
        points.write(point, folder / "point.toml")
        work = {"units": 1000, "unit": "opens", "units_per_second_core": rate, "user": 0.1, "system": 0.9, "idle": 0.0}
        (folder / "metrics.json").write_text(json.dumps({**work, **asdict(of_memory)}))
        (folder / "provenance.json").write_text(json.dumps({"digests": {"kernel": "k", "image": "i", "engine": "e"}}))
        (folder / "console.log").write_text("")
        run_directory.write_manifest(folder)
        return folder

    return made


def shown(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *arguments: str) -> str:
    """What a command prints on 80 columns, its lines joined."""
    monkeypatch.setenv("COLUMNS", "80")
    capsys.readouterr()
    assert main(list(arguments)) == 0
    out = capsys.readouterr().out
    assert all(len(line) <= 80 for line in out.splitlines()), out
    assert "\N{HORIZONTAL ELLIPSIS}" not in out
    return " ".join(out.split())


def refusal(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The sentence with which a command refuses its arguments."""
    capsys.readouterr()
    assert main(list(arguments)) == Outcome.BAD_INPUT.exit_status
    return capsys.readouterr().err


def test_a_report_with_two_runs_beside_each_other(make: Make, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, other = make(), make(transfers=20, kernel="pk")
    out = tmp_path / "report.html"
    words = ["report", str(one), str(other), "--diff", str(other), str(one), "--report", str(out)]
    assert main(words) == 0
    assert "B is micro:open-close" in out.read_text() and 'id="diff-fields"' in out.read_text()
    assert "A and B are one run" in refusal(capsys, "report", str(one), "--diff", str(one), str(one), "--report", str(out))


def test_a_folder_and_a_point_mean_the_same_run(make: Make, tmp_path: Path) -> None:
    folder = make()
    root = tmp_path / "runs"
    for text in (str(folder), f"{folder}/", WORDS, str(folder / "point.toml")):
        assert which.run_of(text, root) == folder
        assert which.read(text) == points.resolve(SETTINGS)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("machine=small-2x2 * workload=micro:stat * cores=2", "There is no run of .*stat.* in"),
        ("workload=micro:stat * cores=1+2", "means 2 points"),
        ("/nowhere/at-all", "/nowhere/at-all"),
        ("nonsense", "nonsense"),
    ],
)
def test_what_is_no_run_is_refused(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(Failure, match=said):
        which.run_of(text, tmp_path)


def test_a_damaged_run_is_refused(make: Make, tmp_path: Path) -> None:
    folder = make()
    (folder / "console.log").write_text("changed")
    with pytest.raises(Failure, match=r"is not a complete run: console\.log is not what MANIFEST\.sha256 says"):
        which.run_of(WORDS, tmp_path / "runs")


def test_show(make: Make, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    folder = str(make())
    text = shown(capsys, monkeypatch, "show", folder)
    for part in ("4 cores", "Where a unit's cycles go", "cores of other sockets", "Functions", "dput"):
        assert part in text
    assert "dentry.d_lockref.lock_count" in text
    assert "true sharing: of 6 of 6 pairs of cores one writes bytes that the other touches" in text


def test_show_the_lines_of_a_field(make: Make, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    folder = str(make())
    text = shown(capsys, monkeypatch, "show", folder, "--field", "i_lock")
    assert "i_lock" in text
    assert "d_lockref" not in text.partition("engine")[2]
    assert "has 'i_nothing' in its field" in refusal(capsys, "show", folder, "--field", "i_nothing")


def test_show_a_core(make: Make, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    folder = str(make())
    text = shown(capsys, monkeypatch, "show", folder, "--core", "1")
    assert "Core 1: 1,000,000 cycles" in text
    assert "cores of other sockets 340,000 34.0 %" in text
    assert "Functions of core 1" in text
    assert "100.0 % user" in text
    assert "It uses 0-3." in refusal(capsys, "show", folder, "--core", "4")


def test_show_two_sockets(make: Make, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    folder = str(make())
    text = shown(capsys, monkeypatch, "show", folder, "--sockets", "0:1")
    assert "0 1 write 23 184" in text
    assert "0 0 write 100" not in text
    assert "0 0 write 100 800" in shown(capsys, monkeypatch, "show", folder, "--sockets", "0:0")
    for pair in ("0:2", "0", "a:b"):
        assert "0 to 1" in refusal(capsys, "show", folder, "--sockets", pair)


def test_diff(make: Make, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    one = make()
    make(rate=1200.0, trial="2")
    make(transfers=20, rate=4000.0, **{"set.hop_cycles": "64"})
    root = ("--output", str(tmp_path / "runs"))
    text = shown(capsys, monkeypatch, "diff", str(one), f"{WORDS} * set.hop_cycles=64", *root)
    # of the means; over the trials from 4000 / 1200 to 4000 / 1000
    assert "B does 3.64 of what A does (3.33 to 4.00 over their trials): 4,000 against 1,100 opens/s/core" in text
    assert "machine.hop_cycles" in text
    assert "cores" not in text.partition("What differs")[2].partition("Fields")[0]
    first, _, rest = text.partition("dentry.d_lockref.lock_count")[2].partition("as before")
    assert first.split()[:2] == ["11", "<"] or first.split()[:1] == ["11"]
    assert "gone" in first
    assert rest
    assert "1 gone" in text


def test_diff_of_equal_points_and_of_one_run(
    make: Make, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = make(), make(transfers=20_000, order="rr")
    text = shown(capsys, monkeypatch, "diff", str(one), str(other))
    assert "(one trial each)" in text
    assert "order seq rr" in text
    assert "+99.9 %" in text
    assert "grown" in text
    assert "A and B are one run" in refusal(capsys, "diff", str(one), str(one))
