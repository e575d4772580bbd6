# SPDX-License-Identifier: BSD-3-Clause
"""A run whose records are too large to be read. Nothing is run."""

from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from analysis.attribute import run_tables
from common.outcome import Failure, Outcome
from harness.build import image
from harness.run import runner
from harness.run.runner import Builds
from harness.spec.point import Point


def test_records_that_do_not_fit_into_memory_are_said_to_be_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def write_run_tables(*_: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(image, "files_of", lambda _: nullcontext())
    monkeypatch.setattr(run_tables, "write_run_tables", write_run_tables)
    (tmp_path / "engine").mkdir()
    with open(tmp_path / "engine" / "records.bin", "wb") as records:
        records.truncate(200_000_000)  # takes no room
    builds = cast(Builds, SimpleNamespace(image=None, kernel=SimpleNamespace(vmlinux=None)))
    with pytest.raises(Failure, match=r"The records of the run, 0\.2 GB, need more memory") as raised:
        runner._extract(cast(Point, None), builds, tmp_path)
    assert raised.value.outcome is Outcome.OUT_OF_MEMORY
