# SPDX-License-Identifier: BSD-3-Clause
"""Code that one core writes while another calls it is the new code afterwards: the engine forgets what it translated."""

import subprocess
import sys
from pathlib import Path

import pytest
from host_run import compile_program

from common.paths import REPOSITORY

pytestmark = pytest.mark.guest


@pytest.mark.parametrize("core", ["in-order", "interval"])
def test_new_code_runs_after_it_was_written(tmp_path: Path, core: str) -> None:
    program = compile_program(Path(__file__).with_name("written_code.c"), tmp_path / "written")
    words = ["machine=small-2x2", "--set", f"core={core}", "--program", str(program), "--cores", "4", "--output", str(tmp_path)]
    done = subprocess.run(
        [sys.executable, REPOSITORY / "run.py", "run", *words], capture_output=True, text=True, check=False, timeout=500
    )
    assert done.returncode == 0, done.stdout + done.stderr
