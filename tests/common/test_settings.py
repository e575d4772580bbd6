# SPDX-License-Identifier: BSD-3-Clause
"""The settings file, and the doctor that reads it."""

import os
from pathlib import Path

import pytest

from common import paths, settings
from common.outcome import Failure
from harness.cli import main
from harness.cli.test import skip_reason


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "settings.toml"
    monkeypatch.setenv("MOSBENCH_SETTINGS", str(path))
    return path


def test_defaults_without_a_file(file: Path) -> None:
    assert settings.load() == settings.Settings()
    assert settings.load().job_count >= 1


def test_values(file: Path) -> None:
    file.write_text('jobs = 3\nrun_seconds = 10\ngem5 = "/opt/gem5.opt"\nruns = "~/runs"\n')
    own = settings.load()
    assert (own.job_count, own.run_seconds, own.gem5) == (3, 10.0, Path("/opt/gem5.opt"))
    assert own.runs == Path.home() / "runs"


def test_relative_paths_are_from_the_folder_of_the_file(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_text('runs = "x"\ngem5 = "../gem5.opt"\nlinux_2_6_35 = "x/linux"\n')
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    own = settings.load()
    assert (own.runs, own.gem5) == (tmp_path / "x", tmp_path / "../gem5.opt")
    assert own.sources == {"linux-2.6.35": tmp_path / "x/linux"}
    assert settings.load(Path("../settings.toml")).runs.resolve() == tmp_path / "x"


def test_relative_paths_of_the_environment_are_from_where_the_command_began(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MOSBENCH_CACHE", "cache")
    monkeypatch.setenv("MOSBENCH_SETTINGS", "own/settings.toml")
    for _ in range(2):
        assert (paths.cache_root(), paths.settings_file()) == (tmp_path / "cache", tmp_path / "own/settings.toml")
        monkeypatch.chdir("/")  # so does a process that runs a point
    assert os.environ["MOSBENCH_CACHE"] == str(tmp_path / "cache"), "it is told to processes that are started"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("job = 3", "job is not a setting"),
        ("jobs = -1", "out of range"),
        ("jobs = 1.5", "out of range"),
        ('jobs = "two"', "out of range"),
        ("jobs = true", "out of range"),
        ("gem5 = 3", "not a path"),
        ("gem5 =", "not a TOML file"),
    ],
)
def test_bad_files(text: str, said: str, file: Path) -> None:
    file.write_text(text)
    with pytest.raises(Failure, match=said) as caught:
        settings.load()
    assert str(file) in caught.value.what


def test_doctor_names_optional_parts_and_layers_say_why_they_are_skipped(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main.main(["doctor"])
    output = capsys.readouterr().out
    assert "missing (optional)" in output
    assert "gem5" in output
    assert "gem5 = PATH" in skip_reason("gem5")
    assert "linux_2_6_35 = PATH" in skip_reason("linux_2_6_35")
    assert skip_reason("guest") == ""
    file.write_text(f'linux_2_6_35 = "{file.parent}"\n')
    assert skip_reason("linux_2_6_35") == ""


def test_a_home_folder_of_nobody(file: Path) -> None:
    file.write_text('runs = "~no-such-user/runs"\n')
    with pytest.raises(Failure, match="there is no user no-such-user") as caught:
        settings.load()
    assert caught.value.outcome == "bad-input"
    with pytest.raises(Failure, match="~no-such-user/mine: there is no user no-such-user"):
        paths.given_path("~no-such-user/mine")


def test_a_workload_in_a_home_folder_of_nobody(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["run", "--workload", "~no-such-user/mine"]) == 2
    assert "there is no user no-such-user" in capsys.readouterr().err
