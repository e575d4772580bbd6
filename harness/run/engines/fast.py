# SPDX-License-Identifier: BSD-3-Clause
"""The fast engine: one QEMU process runs a point, its model writes the records."""

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from common import settings
from common.cache import hash_code
from common.progress import Step
from harness.build.fast_engine import FastBuild, build
from harness.build.image import Image
from harness.build.kernel import Kernel
from harness.run.engines.base import EngineBuild, no_region, remember
from harness.run.guest_process import Limits, supervise
from harness.spec.machine import Machine
from harness.spec.point import NETWORK_CARD, Point, command_line

_FIRMWARE = ("/usr/share/qemu", "/usr/share/seabios")
_EXECUTED_FIRMWARE = ("bios-256k.bin", "linuxboot_dma.bin", "kvmvapic.bin")  # what a guest of ours executes of it
# Family 0x10, as the Opteron 8431: no feature that Linux 2.6.35 stumbles over.
_CPU = "phenom"
_CODE_MIB = 1024  # of generated code; QEMU takes less on a small host, and when it is full a run goes on in another way
_CPU_FLAGS = "fxsr-opt=off"  # QEMU's code generator has no such feature and would warn for every core


class FastEngine:
    """See `harness.run.engines.base.Engine`. ``options`` are more settings of QEMU's mosbench-engine object (used by checks)."""

    name = "fast"

    def __init__(self, options: Mapping[str, str] | None = None) -> None:
        self._options = dict(options or {})
        self._build: FastBuild | None = None

    def prepare(self) -> EngineBuild:
        self._build = build()
        digest = hashlib.sha256(hash_code(Path(__file__)).encode())  # QEMU's arguments
        firmware = [place for name in _EXECUTED_FIRMWARE for folder in _FIRMWARE if (place := Path(folder, name)).is_file()]
        for file in (self._build.binary, self._build.library, self._build.card, *firmware):
            digest.update(file.read_bytes())
        versions = {"qemu": self._build.qemu_version}
        return remember(EngineBuild(self.name, self._build.qemu, digest.hexdigest(), versions, cycles="a model's"))

    def command(self, point: Point, kernel: Kernel, image: Image, folder: Path) -> list[str | Path]:
        """What `execute` runs; the machine file that it names is written into ``folder/engine``, which exists."""
        if self._build is None:
            self.prepare()
        assert self._build is not None
        machine_file = folder / "engine" / "machine.conf"
        machine_file.write_text(f"{point.machine.flat(self.name)}trial {point.trial}\n")
        engine = {
            "machine": str(machine_file),
            "model": str(self._build.library),
            "output": str(folder / "engine"),
            "kernel": str(kernel.vmlinux),
            **self._options,
        }
        engine = {key: value for key, value in engine.items() if value}  # a check empties model to run without one
        command = qemu_command(self._build.binary, point, kernel, image, folder / "console.log", engine)
        if NETWORK_CARD in point.parts:
            command += card_device(self._build.card, point, folder / "engine")
        return command

    def execute(self, point: Point, kernel: Kernel, image: Image, folder: Path, step: Step) -> None:
        command = self.command(point, kernel, image, folder)
        user = settings.load()
        supervise(command, folder, Limits(boot_silence=user.boot_silence_seconds, run=user.run_seconds), step)
        if self._options.get("model", "yes") and not (folder / "engine" / "records.bin").exists():
            raise no_region()


def qemu_command(
    binary: Path, point: Point, kernel: Kernel, image: Image, console: Path, engine: Mapping[str, str] | None
) -> list[str | Path]:
    """The command that boots ``point``. Without ``engine`` any QEMU runs it: no order, no clock, no model of ours."""
    machine = point.machine
    command: list[str | Path] = [binary]
    for firmware in _FIRMWARE:
        command += ["-L", firmware]
    if engine is not None:
        command += [
            "-object",
            "mosbench-engine,id=engine," + ",".join(f"{key}={_escaped(value)}" for key, value in engine.items()),
        ]
    command += ["-machine", "pc,hpet=on", "-accel", f"tcg,thread=single,tb-size={_CODE_MIB}", "-cpu", f"{_CPU},{_CPU_FLAGS}"]
    command += ["-nodefaults", "-display", "none", "-no-reboot", "-seed", "1", "-rtc", "base=2024-01-01,clock=vm"]
    command += list(_processors(point))
    command += list(_memory(machine))
    command += ["-serial", f"file:{_escaped(str(console))}"]
    for index, disk in enumerate((image.boot, image.root)):
        command += ["-drive", f"{_disk(machine, disk, engine is not None)},if=ide,index={index}"]
    command += ["-kernel", kernel.bzimage, "-append", command_line(point)]
    return command


def card_device(library: Path, point: Point, folder: Path) -> list[str | Path]:
    """Arguments for the network card of a point whose clients are behind one; without, the machine has none.

    Its settings, the machine's and the point's (docs/reference/card.md), and at the end what it has counted are in ``folder``:
    card.conf and card.json.
    """
    file = folder / "card.conf"
    file.write_text(point.card_settings, encoding="utf-8")
    values = {"library": str(library), "settings": str(file), "metrics": str(folder / "card.json")}
    return ["-device", "mosbench-card," + ",".join(f"{key}={_escaped(value)}" for key, value in values.items())]


def _escaped(value: str) -> str:
    """QEMU's option lists double a comma that is part of a value."""
    return value.replace(",", ",,")


def _processors(point: Point) -> Iterator[str]:
    machine = point.machine
    topology = f"maxcpus={machine.cores},sockets={machine.sockets},cores={machine.cores_per_socket},threads=1"
    plugged = point.core_list
    first = next((i for i, core in enumerate(plugged) if core != i), len(plugged))
    yield from ("-smp", f"cpus={first},{topology}")
    for core in plugged[first:]:
        socket, place = divmod(core, machine.cores_per_socket)
        yield from ("-device", f"{_CPU}-x86_64-cpu,{_CPU_FLAGS},socket-id={socket},core-id={place},thread-id=0")


def _memory(machine: Machine) -> Iterator[str]:
    yield from ("-m", f"{machine.memory_mib}M")
    for node in range(machine.sockets):
        yield from ("-object", f"memory-backend-ram,id=node{node},size={machine.node_mib}M")
        yield from ("-numa", f"node,nodeid={node},memdev=node{node}")
    for core in range(machine.cores):
        socket, place = divmod(core, machine.cores_per_socket)
        yield from ("-numa", f"cpu,node-id={socket},socket-id={socket},core-id={place},thread-id=0")
    for a, row in enumerate(machine.node_distances):
        for b, distance in enumerate(row):
            if a != b:
                yield from ("-numa", f"dist,src={a},dst={b},val={distance}")


def _disk(machine: Machine, disk: Path, timed: bool) -> str:
    if not timed:
        return f"file={_escaped(str(disk))},format=raw,snapshot=on"
    return (
        f"file.driver=mosbench-disk,file.image={_escaped(str(disk))},file.latency-us={machine.disk_latency_us},"
        f"file.mbytes-per-second={machine.disk_mbytes_per_second},format=raw"
    )
