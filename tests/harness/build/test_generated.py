# SPDX-License-Identifier: BSD-3-Clause
"""Files that are written from a schema are what it says."""

from pathlib import Path

import pytest

from common.outcome import Failure
from harness.build import generated


@pytest.mark.parametrize("path", generated.FILES, ids=lambda path: path.name)
def test_is_fresh(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == generated.wanted(path), f"`{generated.COMMAND}` writes it again"


def test_a_page_without_marks_is_refused() -> None:
    with pytest.raises(Failure, match="no marks"):
        generated.records_page("# Records\n")
