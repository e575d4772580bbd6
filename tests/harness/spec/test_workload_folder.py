# SPDX-License-Identifier: BSD-3-Clause
"""A workload's folder anywhere: what it is called, what is said of a wrong one, and points that name it."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from common.outcome import Failure, Outcome
from common.paths import WORKLOADS
from harness.cli import workload as command
from harness.spec import point as points
from harness.spec import sweep, workload, workload_folder


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    command.write(tmp_path / "mine")
    return tmp_path / "mine"


def test_a_folder_is_named_by_its_content(mine: Path, tmp_path: Path) -> None:
    job = workload.parse(f"{mine}:own:iterations=7")
    name, _, content = job.name.partition("@")
    assert (name, len(content)) == ("mine", 12)
    assert job.job() == "mine:own:iterations=7,warmup=101"
    assert job.environment([0])["MOSBENCH_WORKLOAD"] == "mine"
    elsewhere = shutil.copytree(mine, tmp_path / "elsewhere" / "mine")
    assert workload.load(str(elsewhere)).label == job.name
    (elsewhere / "flags.txt").write_text("-O3\n")
    changed = workload.load(str(elsewhere))
    assert changed.label != job.name
    assert changed.flags == ("-O3",)


def test_one_of_ours_is_itself_however_it_is_written() -> None:
    assert workload.load(str(WORKLOADS / "micro")) == workload.load("micro")


def test_a_point_finds_its_folder_again(mine: Path, tmp_path: Path) -> None:
    (settings,) = sweep.parse(f'workload="{mine}:own" * machine=small-2x2').settings
    point = points.resolve(settings)
    assert point.workload_text == f"{workload.load(str(mine)).label}:own"
    assert point.job.startswith("mine:own:")
    points.write(point, tmp_path / "point.toml")
    again = points.read(tmp_path / "point.toml")
    assert again == point
    assert again.workload_definition.folder == mine
    assert replace(point, workload_folder="/elsewhere").id == point.id
    (mine / "guest" / "run").write_text("#!/bin/sh\n")
    with pytest.raises(Failure, match="is mine@") as caught:
        _ = again.workload_definition
    assert caught.value.outcome is Outcome.BAD_INPUT
    assert points.resolve(settings).id != point.id


def test_a_path_may_be_relative_or_at_home(mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(mine.parent)
    monkeypatch.setenv("HOME", str(mine.parent))
    labels = {workload.parse(text).name for text in ("./mine", f"{mine}", "~/mine:shared", "../" + mine.parent.name + "/mine")}
    assert len(labels) == 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda folder: shutil.rmtree(folder), "There is no folder"),
        (lambda folder: (folder / "workload.toml").unlink(), "has no file workload.toml"),
        (lambda folder: (folder / "guest/run").unlink(), "has no file guest/run"),
        (lambda folder: (folder / "package.txt").write_text("make\n"), "package.txt is no file that a workload has"),
        (lambda folder: (folder / "source").mkdir(), "source is no folder that a workload has"),
        (lambda folder: (folder / "packages.txt").write_text("make\nTwo Words\n"), "packages.txt, line 2: 'Two Words'"),
        (lambda folder: (folder / "packages.txt").write_bytes(b"\xff\n"), "packages.txt cannot be read"),
        (lambda folder: (folder / "flags.txt").write_text("-O3 evil.c # x\n"), "flags.txt, line 1: 'evil.c' is no flag"),
        (lambda folder: (folder / "workload.toml").write_text("name = 3\n"), "name is not of type str"),
        (
            lambda folder: folder.rename(folder.with_name("other")).with_name("mine").symlink_to("other"),
            "name is not the folder's",
        ),
    ],
)
def test_a_wrong_folder_is_one_sentence(mine: Path, change: object, said: str) -> None:
    assert callable(change)
    change(mine)
    with pytest.raises(Failure, match=said) as caught:
        workload.load(str(mine))
    assert caught.value.outcome is Outcome.BAD_INPUT
    assert caught.value.cure


@pytest.mark.parametrize("line", ["Two Words", "memcached=1.6", "--reinstall", "../x"])
def test_a_line_that_is_no_package_name(tmp_path: Path, line: str) -> None:
    (tmp_path / "packages.txt").write_text(f"make # why\n{line}\n")
    with pytest.raises(Failure, match="line 2"):
        workload_folder.package_names(tmp_path / "packages.txt")


@pytest.mark.parametrize("name", ["Mine", "my_one", ".mine", "a b"])
def test_a_name_that_is_none(tmp_path: Path, name: str) -> None:
    with pytest.raises(Failure, match="is no name of a workload"):
        command.write(tmp_path / name)


def test_nothing_is_written_over(mine: Path) -> None:
    with pytest.raises(Failure, match="is there already"):
        command.write(mine)
