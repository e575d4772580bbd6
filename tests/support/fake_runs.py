# SPDX-License-Identifier: BSD-3-Clause
"""The real runner, run directories and command line around a fake guest: nothing is built and nothing is booted.

As a program: `fake_runs.py MODE COMMAND...` is `run.py COMMAND...` with fake builds whose guest behaves as MODE says.
"""

import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from unittest import mock

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from records_file import write_records

from analysis.attribute.run_tables import OfMemory
from common.progress import Step
from harness.build.image import Image
from harness.build.kernel import Kernel
from harness.cli.main import main as run_py
from harness.run import runner
from harness.run.engines.base import EngineBuild
from harness.run.guest_process import Limits, supervise
from harness.spec import point as points
from harness.spec.point import Point

LIMITS = Limits(boot_silence=30.0, run=60.0, exit=5.0)


class FakeEngine:
    """An engine whose process is fake_guest.py."""

    name = "fast"

    def __init__(self, mode: str, limits: Limits = LIMITS) -> None:
        self._mode = mode
        self._limits = limits

    def prepare(self) -> EngineBuild:
        return EngineBuild("fast", HERE, "engine-1", {"fake": "1"}, note="made up", cycles="nobody's")

    def execute(self, point: Point, kernel: Kernel, image: Image, folder: Path, step: Step) -> None:
        supervise([sys.executable, str(HERE / "fake_guest.py"), self._mode], folder, self._limits, step)
        cores = {"core": [0, 1], "cycles": [480000, 480000], "idle_cycles": [240000, 0], "instructions": [1000, 2000]}
        samples = {"core": [0, 1], "pc": [1, 2], "kernel": [0, 1], "count": [25, 75]}
        write_records(folder / "engine" / "records.bin", {"cores": cores, "samples": samples}, roi_cycles=480000)
        (folder / "engine" / "memory.elf").write_bytes(b"guest memory")


def builds(mode: str, kernel_digest: str = "kernel-1", limits: Limits = LIMITS) -> runner.Builds:
    """Builds that cost nothing."""
    engine = FakeEngine(mode, limits)
    kernel = Kernel(HERE, HERE, "6.1.0", HERE, kernel_digest)
    return runner.Builds(kernel, Image(HERE, HERE, "boot-1", "image-1", HERE, 1), engine, engine.prepare())


def point(cores: int = 2, settings: Mapping[str, str] | None = None) -> Point:
    """A point of the small machine."""
    return points.resolve({"machine": "small-2x2", "workload": "micro:stat", "cores": str(cores), **(settings or {})})


def command(mode: str) -> list[str]:
    """The command that is `run.py` with a guest that behaves as ``mode`` says."""
    return [sys.executable, str(Path(__file__).resolve()), mode]


def hanging(root: Path) -> int:
    """A process that hangs, as soon as there is one."""
    end = time.monotonic() + 120
    while time.monotonic() < end:
        for file in root.glob(".*.part/guest.pid"):
            try:
                pid = int(file.read_text())
                if "hang" in Path(f"/proc/{pid}/cmdline").read_text():
                    return pid
            except (OSError, ValueError):
                pass  # it is being written, or has ended
        time.sleep(0.1)
    raise AssertionError("nothing hangs")


def gone(pid: int, seconds: float = 5.0) -> bool:
    """Whether the process ends within ``seconds``."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (OSError, IndexError):  # the process may be taken away at any moment
            return True
        if state == "Z":
            return True
        time.sleep(0.02)
    return False


def main() -> int:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # what runs the tests may be in the background, where it is ignored
    mode, *arguments = sys.argv[1:]
    with (
        mock.patch.object(runner, "prepare", lambda _: builds(mode)),
        mock.patch("analysis.attribute.run_tables.write_run_tables", lambda *given: OfMemory({}, [])),
        mock.patch("analysis.report.kept_tables.find", lambda folder: None),
        mock.patch("harness.build.host_packages.require", lambda *names: None),
        mock.patch("harness.run.many.prepare_all", lambda wanted: None),
        mock.patch("harness.cli.run.told", lambda run, width: ()),  # there are no tables to tell of
    ):
        return run_py(arguments)


if __name__ == "__main__":
    sys.exit(main())
