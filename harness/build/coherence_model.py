# SPDX-License-Identifier: BSD-3-Clause
"""What the fast engine loads: the coherence model and the network card, each a shared object."""

import shutil
import sys
from pathlib import Path

from common.cache import cached, hash_code, hash_files
from common.paths import REPOSITORY
from common.progress import run_logged
from harness.build import lwip
from harness.build.compiler import version_line

MODEL = "libcoherence.so"
CARD = "libcard.so"
_GUEST_TOO = (
    REPOSITORY / "workloads" / "postgresql" / "src" / "queries.h",
    REPOSITORY / "workloads" / "micro" / "src" / "micro" / "messages.h",
)
"""What the card's clients share with programs of the guest."""


def build_model() -> Path:
    """Folder with both shared objects."""
    inputs = {
        "code": hash_code(Path(__file__)),
        "sources": hash_files(
            REPOSITORY / "fast-engine" / "model", REPOSITORY / "native", REPOSITORY / "SConstruct", *_GUEST_TOO
        ),
        "compiler": version_line("g++"),
        "lwip": lwip.inputs(),
    }
    return cached("engines", "model", inputs, _build_model)


def _build_model(folder: Path) -> None:
    log = folder / "build.log"
    build = folder / "work"
    scons = Path(sys.executable).with_name("scons")
    made = (MODEL, CARD)
    targets = [build / name for name in made]
    run_logged("Building coherence model and network card", [scons, "-Q", f"build_dir={build}", *targets], log, cwd=REPOSITORY)
    for name in made:
        shutil.copy(build / name, folder / name)
    shutil.rmtree(build)
