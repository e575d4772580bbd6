# SPDX-License-Identifier: BSD-3-Clause
"""The coherence model that the fast engine loads, as a shared object."""

import shutil
import sys
from pathlib import Path

from common.cache import cached, hash_code, hash_files
from common.paths import REPOSITORY
from common.progress import run_logged
from harness.build.compiler import version_line

MODEL = "libcoherence.so"


def build_model() -> Path:
    """Folder with the coherence model's shared object."""
    inputs = {
        "code": hash_code(Path(__file__)),
        "sources": hash_files(REPOSITORY / "fast-engine" / "model", REPOSITORY / "native", REPOSITORY / "SConstruct"),
        "compiler": version_line("g++"),
    }
    return cached("engines", "model", inputs, _build_model)


def _build_model(folder: Path) -> None:
    log = folder / "build.log"
    build = folder / "work"
    scons = Path(sys.executable).with_name("scons")
    run_logged("Building the coherence model", [scons, "-Q", f"build_dir={build}", build / MODEL], log, cwd=REPOSITORY)
    shutil.copy(build / MODEL, folder / MODEL)
    shutil.rmtree(build)
