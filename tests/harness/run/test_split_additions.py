# SPDX-License-Identifier: BSD-3-Clause
"""An addition to a word over two pages counts once, whatever others do to the second page meanwhile."""

import subprocess
import sys
from pathlib import Path

import pytest
from host_run import compile_program

from common.paths import REPOSITORY

pytestmark = pytest.mark.guest


@pytest.mark.parametrize("core", ["in-order", "interval"])
def test_additions_over_two_pages(tmp_path: Path, core: str) -> None:
    program = compile_program(Path(__file__).with_name("split_additions.c"), tmp_path / "split")
    words = ["machine=small-2x2", "--set", f"core={core}", "--program", str(program), "--cores", "4", "--output", str(tmp_path)]
    done = subprocess.run(
        [sys.executable, REPOSITORY / "run.py", "run", *words], capture_output=True, text=True, check=False, timeout=500
    )
    assert done.returncode == 0, done.stdout + done.stderr
