# SPDX-License-Identifier: BSD-3-Clause
"""A run under a debugger: the guest stops where its region begins, with a GDB port on this host. It is not kept as a run."""

import shutil
import socket
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from common.progress import Step, step
from harness.build import image, kernel
from harness.build.image import Image
from harness.build.kernel import Kernel
from harness.run.engines.base import Engine
from harness.run.engines.fast import FastEngine
from harness.run.engines.gem5 import Debugger, Gem5Engine
from harness.run.guest_process import NO_LIMITS, supervise
from harness.spec.point import Point

_HOST = "127.0.0.1"


class DebuggedEngine(FastEngine):
    """The fast engine with a GDB port, which stops where the region begins."""

    def __init__(self, debugger: Debugger) -> None:
        super().__init__({"gdb": "on", "snapshot": "off"})
        self._debugger = debugger

    def command(self, point: Point, kernel: Kernel, image: Image, folder: Path) -> list[str | Path]:
        return [*super().command(point, kernel, image, folder), "-gdb", f"tcp:{_HOST}:{self._debugger.port}"]

    def execute(self, point: Point, kernel: Kernel, image: Image, folder: Path, step: Step) -> None:
        self._debugger.waited_for()  # it may connect while the guest boots
        supervise(self.command(point, kernel, image, folder), folder, NO_LIMITS, step)


@dataclass(frozen=True)
class Debugged:
    """What a debugger needs to know: where to connect, and the kernel with its debugging information."""

    port: int
    vmlinux: Path

    @property
    def command(self) -> list[str]:
        """The words that start Debian's gdb on it."""
        return ["gdb", str(self.vmlinux), "-ex", f"target remote {_HOST}:{self.port}"]


def debug(point: Point, port: int | None, tell: Callable[[Debugged], None]) -> None:
    """Run ``point``; ``tell`` is called when a debugger may connect. Returns when the guest has ended.

    ``port`` is one of this host; None: one that is free.

    Raises:
        Failure: bad-input, where that cannot be; every typed outcome of a run but ok.
    """
    built, disk = kernel.build(point.source, point.fixes), image.of(point)
    port = port or _free_port()
    debugger = Debugger(port, lambda: tell(Debugged(port, built.vmlinux)))
    engine: Engine = Gem5Engine(debugger=debugger) if point.engine == "gem5" else DebuggedEngine(debugger)
    engine.prepare()
    folder = Path(tempfile.mkdtemp(prefix="mosbench-gdb-"))
    try:
        (folder / "engine").mkdir()
        with step(point.title) as current:
            engine.execute(point, built, disk, folder, current)
    finally:
        shutil.rmtree(folder)


def _free_port() -> int:
    with socket.socket() as one:
        one.bind((_HOST, 0))
        return int(one.getsockname()[1])
