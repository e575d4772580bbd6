# SPDX-License-Identifier: BSD-3-Clause
"""The Python environment that run.py makes."""

import sys
from pathlib import Path

import run


def test_the_environments_own_python_makes_no_second_one() -> None:
    assert run.environment() == Path(sys.executable)
