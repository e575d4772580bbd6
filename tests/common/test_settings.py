# SPDX-License-Identifier: BSD-3-Clause
"""The settings file, and the doctor that reads it."""

from pathlib import Path

import pytest

from common import settings
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
