# SPDX-License-Identifier: BSD-3-Clause
"""Programs that look at what memory has while others write to it, with the model on.

`split_additions`: an addition to a word over two pages counts once, whatever others do to the second page meanwhile.
`written_code`: code that one core writes while another calls it is the new code afterwards, though the engine remembers code.
"""

import subprocess
import sys
from pathlib import Path

import pytest
from host_run import compile_program

from common.paths import REPOSITORY

pytestmark = pytest.mark.guest


@pytest.mark.parametrize("core", ["in-order", "interval"])
@pytest.mark.parametrize("name", ["split_additions", "written_code"])
def test_nothing_is_lost(tmp_path: Path, name: str, core: str) -> None:
    program = compile_program(Path(__file__).with_name(f"{name}.c"), tmp_path / "program")
    words = ["machine=small-2x2", "--set", f"core={core}", "--program", str(program), "--cores", "4", "--output", str(tmp_path)]
    done = subprocess.run(
        [sys.executable, REPOSITORY / "run.py", "run", *words], capture_output=True, text=True, check=False, timeout=500
    )
    assert done.returncode == 0, done.stdout + done.stderr
