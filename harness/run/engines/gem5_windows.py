# SPDX-License-Identifier: BSD-3-Clause
"""Windows of a region on gem5: where they are, and one records file of all. gem5-configs/windows.py measures them."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

from analysis.attribute.records import read_records, write_records
from analysis.attribute.windows import merged
from common.cache import cached
from common.outcome import bad_input
from harness.build.image import Image
from harness.run.engines.base import processors
from harness.run.engines.gem5_binary import Gem5
from harness.run.engines.gem5_checkpoint import Checkpoint
from harness.spec.point import Point

PROTOCOL = "MOESI_htassist"
_COUNT = "count.json"


def check(point: Point, gem5: Gem5) -> None:
    """Refuse windows that cannot be measured.

    Raises:
        Failure: bad-input.
    """
    if point.machine.windows and gem5.protocol != PROTOCOL:
        raise bad_input(
            f"windows = {point.machine.windows} needs a gem5 with {PROTOCOL}; {gem5.binary} has {gem5.protocol}.",
            "Use one, or leave windows out.",
        )


def region_instructions(point: Point, image: Image, booted: Checkpoint, script: str, count: Callable[[], int]) -> int:
    """What programs execute in the region: what ``count`` says, or what it said for the same job from the same boot.

    It runs without caches, so that the rest of the machine, or another trial, changes nothing. ``script`` is the hash of ours.
    """

    def build(folder: Path) -> None:
        (folder / _COUNT).write_text(json.dumps({"program_instructions": count()}) + "\n", encoding="utf-8")

    name = f"{point.source}-{point.workload_definition.name}-c{point.cores}"
    inputs = {"boot": booted.folder.name, "image": image.digest, "job": point.job, "script": script}
    found = cached("counts", name, inputs, build)
    return int(json.loads((found / _COUNT).read_text(encoding="utf-8"))["program_instructions"])


def options(point: Point, instructions: int) -> list[str | Path]:
    """Options of simulate.py for the windows of a region in which programs execute so many ``instructions``."""
    machine = point.machine
    lengths = ["--window-cycles", str(machine.window_cycles), "--lead-cycles", str(machine.window_lead_cycles)]
    places = ["--windows", str(machine.windows), "--region-instructions", str(instructions)]
    return [*places, *lengths, "--windows-at-once", str(processors())]


def put_together(engine: Path) -> None:
    """One records file of those that the windows of a region have. Where gem5 ended before it wrote any, there is none."""
    found = sorted((engine / "windows").glob("*/records.bin"), key=lambda path: int(path.parent.name))
    if found:
        write_records(merged([read_records(path) for path in found], engine / "records.bin"))
    shutil.rmtree(engine / "windows", ignore_errors=True)
