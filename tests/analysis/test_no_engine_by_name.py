# SPDX-License-Identifier: BSD-3-Clause
"""What is told of an engine comes from the engine: nothing in `analysis` names one."""

import re
from pathlib import Path

import pytest

from common.paths import REPOSITORY
from harness.run.engines import base

_PROJECT = "mosbench-gem5"  # its name has an engine's in it

# The writer of records that tests use has an engine's name as a default.
_EXEMPT = {"analysis/attribute/records.py"}

FILES = sorted(
    path for kind in ("*.py", "*.j2") for path in (REPOSITORY / "analysis").rglob(kind) if not str(path).endswith(tuple(_EXEMPT))
)


def engines_named(text: str) -> set[str]:
    """The engines, or what only one of them is made of, that a text names."""
    words = "|".join([*base.names(), "qemu", "no L3"])
    return {found.lower() for found in re.findall(rf"(?<![\w-])(?:{words})(?![\w-])", text.replace(_PROJECT, ""), re.IGNORECASE)}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_no_engine_is_named(path: Path) -> None:
    assert engines_named(path.read_text(encoding="utf-8")) == set()


def test_a_name_is_found() -> None:
    assert engines_named('if engine == "gem5": title = "fast (no L3)"') == {"gem5", "fast", "no l3"}
    assert engines_named("mosbench-gem5 is fastest") == set()
