# SPDX-License-Identifier: BSD-3-Clause
"""Part of `verify card`: does the card work with a machine of which nothing is ours?

At the other end of the wire is a guest of Debian's QEMU with that emulator's Intel 82540, whose frames come over a socket
(`-netdev stream`; `native/load/peer_wire.h`). Both guests send a megabyte and compare what comes, with our card's offloads and
without. The other guest runs on the host's time, so this run, unlike any other, is not the same twice.
"""

import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from common.outcome import Failure, Outcome
from common.progress import last_line, step
from harness.build import host_packages, image, kernel
from harness.build.image import Image
from harness.build.kernel import Kernel
from harness.checks.verify.card_engines import counted
from harness.checks.verify.card_judged import Judged, counters, equal, streams
from harness.checks.verify.measuring import execute, point, read_console
from harness.run.console import ConsoleReader
from harness.run.engines.fast import FastEngine, qemu_command
from harness.run.guest_process import child
from harness.spec.point import Point

_GUEST = Path(__file__).with_name("card-guest")
_CORES = 2
_EMULATOR, _PACKAGE = Path("/usr/bin/qemu-system-x86_64"), "qemu-system-x86"
_CARD = "e1000"  # the drivers of both kernels are in their configurations
_BOOT_SECONDS, _END_SECONDS = 600.0, 120.0


def planned(there: Sequence[str]) -> list[Point]:
    """One point for each kernel; the other guest is no point."""
    return [_point(source) for source in there]


def _point(source: str) -> Point:
    return point(f"workload={_GUEST}:foreign * kernel={source}:stock * cores={_CORES}")


class _WithPeer(FastEngine):
    """The fast engine with a socket at the other end of the card's wire."""

    def __init__(self, socket: Path) -> None:
        super().__init__({"snapshot": "off"})
        self._socket = socket

    def command(self, point: Point, kernel: Kernel, image: Image, folder: Path) -> list[str | Path]:
        command = super().command(point, kernel, image, folder)
        with (folder / "engine" / "card.conf").open("a", encoding="utf-8") as settings:
            settings.write(f"nic_peer {self._socket}\n")
        return command


def run(source: str, folder: Path) -> list[Judged]:
    """Run both guests, judge what they say.

    Raises:
        Failure: of either.
    """
    host_packages.require(_PACKAGE)
    folder.mkdir()
    socket = folder / "wire"
    with _other(socket, folder / "other") as console:
        ran = execute(_point(source), folder / "ours", _WithPeer(socket))
    return judge(ran.result, read_console(console).result, counted(ran.folder))


def judge(result: Mapping[str, Any], other: Mapping[str, Any], model: Mapping[str, Any]) -> list[Judged]:
    """Everything of one run.

    Raises:
        Failure: wrong-result, when a guest or the model do not say what is judged.
    """
    try:
        each = sum(stream["bytes"] for stream in result["streams"])
        return [
            *counters(result, model, _CORES),
            *streams(result, model),
            equal("bytes that the other guest exchanged", each, other["units"]),
        ]
    except KeyError as error:
        raise Failure(
            Outcome.WRONG_RESULT, f"The run says nothing of {error}.", "Look at its console.log and card.json."
        ) from error


@contextmanager
def _other(socket: Path, folder: Path) -> Iterator[Path]:
    """The other guest, listening while the body runs, and its console; it has to have ended soon after.

    Raises:
        Failure: boot-hang, engine-crash or timeout.
    """
    folder.mkdir()
    wanted = point(f"workload={_GUEST}:peer * machine=small-2x2 * cores=1")
    built, disk = kernel.build(wanted.source, wanted.fixes), image.of(wanted)
    console, log = folder / "console.log", folder / "emulator.log"
    command = qemu_command(_EMULATOR, wanted, built, disk, console, None)
    command += ["-netdev", f"stream,id=wire,server=on,addr.type=unix,addr.path={socket}"]
    command += ["-device", f"{_CARD},netdev=wire,mac=02:00:00:00:00:02"]
    with child(command, folder, log) as process:
        with step("the other guest boots"):
            _until_it_listens(process, console, log)
        yield console
        try:
            process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            what = f"The other guest had not ended {_END_SECONDS:g} s after ours."
            raise Failure(Outcome.TIMEOUT, what, f"See {console}.") from None


def _until_it_listens(process: subprocess.Popen[bytes], console: Path, log: Path) -> None:
    reader, read, began = ConsoleReader(), 0, time.monotonic()
    while not any(event["event"] == "roi" for event in reader.events):
        if process.poll() is not None:
            raise Failure(
                Outcome.ENGINE_CRASH, f"The other guest's emulator ended ({last_line(log)}).", f"See {log} and {console}."
            )
        if time.monotonic() - began > _BOOT_SECONDS:
            raise Failure(Outcome.BOOT_HANG, f"The other guest did not listen after {_BOOT_SECONDS:g} s.", f"See {console}.")
        time.sleep(0.1)
        if console.exists():
            data = console.read_bytes()
            reader.feed(data[read:])
            read = len(data)
