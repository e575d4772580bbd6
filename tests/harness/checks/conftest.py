# SPDX-License-Identifier: BSD-3-Clause
"""For the tests of the checks."""

import tempfile
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def no_litter(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A check that fails keeps its folder; one that a unit test lets fail keeps it with the test's own."""
    if "unit" in request.keywords:
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
