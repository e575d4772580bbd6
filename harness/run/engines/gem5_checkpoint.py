# SPDX-License-Identifier: BSD-3-Clause
"""Checkpoints of booted guests, in the cache by the content of what they are made from: kernel, boot disk, machine and cores.

The workload's disk is not among that: a guest boots with an empty one of the same size, and finds the job's in its place later.
"""

import json
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.report.words import cores_text
from common import settings
from common.cache import cached, entry_path, hash_code, hash_files
from common.outcome import Failure, Outcome
from common.progress import Step, step
from harness.build.coherence_model import CARD, build_model
from harness.build.image import Image
from harness.build.kernel import Kernel
from harness.run.console import ConsoleReader, judge
from harness.run.engines import gem5_log
from harness.run.engines.gem5_binary import CONFIGS, Gem5
from harness.run.guest_process import Limits, follow
from harness.spec.kernel import load_recipe
from harness.spec.point import NETWORK_CARD, Point, command_line

SLOWNESS = 10.0
"""gem5 takes this many times the fast engine's time for the same part of a boot; the settings' limits are for that engine."""
CONSOLE = "system.pc.com_1.device"
_LOG = "gem5.log"
_LOOPS_PER_JIFFY = 100_000
"""With a true number each processor would spend 24 million instructions in the delays of its start."""
_TELLING = 0.02
"""Share of a boot from which on its speed says how long the rest takes."""
# What a booted guest depends on of the machine; a checkpoint has cold caches and serves machines that differ in the rest.
_MACHINE_VALUES = (
    "sockets", "cores_per_socket", "clock_ghz", "pause_cycles", "node_distances", "node_mib", "interleave", "disk_latency_us",
)  # fmt: skip
_BOARD_FILES = (
    "acpi.py", "bios.py", "board.py", "boot_memory.py", "machine_values.py", "memory.py", "nodes.py", "platform.py",
    "processors.py",
)  # fmt: skip


@dataclass(frozen=True)
class Checkpoint:
    """A guest that waits for its job."""

    folder: Path
    """The cache entry: cpt/, console.log, boot.json."""

    @property
    def state(self) -> Path:
        return self.folder / "cpt"

    @property
    def console(self) -> bytes:
        """What the guest printed while it booted."""
        return (self.folder / "console.log").read_bytes()

    @property
    def facts(self) -> dict[str, Any]:
        """boot.json: instructions, guest_seconds, wall_seconds and cpu_seconds of the host."""
        value: dict[str, Any] = json.loads((self.folder / "boot.json").read_text(encoding="utf-8"))
        return value


def guest_command_line(point: Point) -> str:
    """The kernel's command line under gem5, the same for all jobs."""
    of_kernel = load_recipe(point.source).boot_with(point.engine).words
    words = " ".join(filter(None, (of_kernel, "mosbench.engine=gem5")))
    return command_line(point, job="readfile", loops_per_jiffy=_LOOPS_PER_JIFFY, words=words)


def inputs(point: Point, kernel: Kernel, image: Image, gem5: Gem5) -> dict[str, object]:
    """What the checkpoint of ``point`` is made from."""
    machine = point.machine.values() | point.machine.resolved()
    card = build_model() / CARD if NETWORK_CARD in point.parts else None
    return {
        "kernel": kernel.digest,
        "image": image.boot_digest,
        "disk_mib": image.disk_mib,
        "machine": {key: machine[key] for key in _MACHINE_VALUES},
        "cores": list(point.core_list),
        "command_line": guest_command_line(point),
        "gem5": gem5.version,
        "card": None if card is None else [point.card_settings, hash_files(card)],
        "board": hash_code(CONFIGS / "simulate.py", *(CONFIGS / "board" / name for name in _BOARD_FILES)),
    }


def is_there(point: Point, kernel: Kernel, image: Image, gem5: Gem5) -> bool:
    """Whether a boot can be saved."""
    return entry_path("checkpoints", _name(point), inputs(point, kernel, image, gem5)).is_dir()


def checkpoint(point: Point, kernel: Kernel, image: Image, gem5: Gem5) -> Checkpoint:
    """The checkpoint for ``point``, booted unless it is in the cache.

    Raises:
        Failure: boot-hang, guest-panic, application-failed, engine-crash, ...: the boot ended another way.
    """
    wanted = inputs(point, kernel, image, gem5)

    def build(folder: Path) -> None:
        with step(f"Booting {point.kernel_text} on {cores_text(point.cores)} in gem5") as current:
            _boot(point, kernel, image, gem5, folder, current)

    found = cached("checkpoints", _name(point), wanted, build)
    check(found, wanted)
    return Checkpoint(found)


def _name(point: Point) -> str:
    return f"{point.source}-{point.machine.name}-c{point.cores}"


def check(folder: Path, wanted: Mapping[str, object]) -> None:
    """Refuse a checkpoint that is not what it should be.

    Raises:
        Failure: bad-input, naming what differs; a checkpoint of another kernel would run, and measure something else.
    """
    cure = f"Remove the folder {folder}; the next run boots again."
    try:
        made_from = json.loads((folder / "inputs.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Failure(
            Outcome.BAD_INPUT, f"The checkpoint {folder} does not say what it was made from ({error}).", cure
        ) from error
    for key, value in json.loads(json.dumps(wanted)).items():
        if made_from.get(key) != value:
            raise Failure(Outcome.BAD_INPUT, f"The checkpoint {folder} is of another {key.replace('_', ' ')}.", cure)
    if not (folder / "cpt" / "m5.cpt").is_file():
        raise Failure(Outcome.BAD_INPUT, f"The checkpoint {folder} has no state of the machine (cpt/m5.cpt).", cure)


def simulate_command(
    gem5: Gem5, action: str, point: Point, kernel: Kernel, disks: Sequence[Path], folder: Path, more: Sequence[str | Path]
) -> list[str | Path]:
    """gem5 with our script; writes machine and card that it names into ``folder``, which is gem5's output folder too."""
    machine = folder / "machine.conf"
    machine.write_text(point.machine.flat("gem5"), encoding="utf-8")
    if NETWORK_CARD in point.parts:
        settings_file = folder / "card.conf"
        settings_file.write_text(point.card_settings, encoding="utf-8")
        more = ["--card-library", build_model() / CARD, "--card-settings", settings_file, *more]
    fixed: list[str | Path] = ["--machine", machine, "--cores", ",".join(map(str, point.core_list)), "--kernel", kernel.vmlinux]
    for disk in disks:
        fixed += ["--disk", disk]
    fixed += ["--command-line", guest_command_line(point)]
    # On: a debugger's port, on this host alone, and only where one is asked for (--gdb-port).
    listeners = "on" if "--gdb-port" in more else "off"
    own = ["--quiet", f"--listener-mode={listeners}", f"--outdir={folder}"]
    return [gem5.binary, *own, CONFIGS / "simulate.py", action, *fixed, *more]


class Progress:
    """The note of a running step, from gem5's log: phase, instructions, speed, and the time left as far as it can be told."""

    def __init__(
        self,
        log: Path,
        expected: float | None = None,
        warm_ups: float | None = None,
        marks: Callable[[str], None] = lambda mark: None,
    ) -> None:
        self._log = log
        self._marks = marks
        """Told of each mark that the simulation passes."""
        self._expected = expected
        """Instructions that the phase is likely to take."""
        self._warm_ups = warm_ups
        """How many times the work of the warm-up the region's is."""
        self._offset = 0
        self._rest = ""
        self._text = ""
        self._last: Mapping[str, Any] = {"phase": "", "instructions": 0, "wall_seconds": 0.0}
        self._before: Mapping[str, Any] = self._last
        """The last report of the phase before."""
        self._windows = ""
        """How many windows of the region have been measured, where some have."""

    def __call__(self, reader: ConsoleReader) -> str:
        try:
            with open(self._log, encoding="utf-8", errors="replace") as handle:
                handle.seek(self._offset)
                added = handle.read()
                self._offset = handle.tell()
        except OSError:
            return reader.last_line
        *lines, self._rest = (self._rest + added).split("\n")
        for event in gem5_log.events("\n".join(lines)):
            if event["event"] == "progress":
                self._text = self._describe(event)
            elif event["event"] == "window":
                self._windows = self._text = f"{event['measured']} of {event['of']} windows measured"
            elif event["event"] == "mark":
                self._marks(event["mark"])
        return self._text or reader.last_line

    def _describe(self, event: Mapping[str, Any]) -> str:
        if event["phase"] != self._last["phase"]:
            if self._last["phase"] == "warm" and self._warm_ups is not None:
                self._expected = self._warm_ups * (self._last["instructions"] - self._before["instructions"])
            elif self._last["phase"]:
                self._expected = None
            self._before = self._last
        self._last = event
        done = float(event["instructions"] - self._before["instructions"])
        if self._windows and event["phase"] == "region":  # which waits for its windows: its speed says nothing
            return f"region: {done / 1e6:.0f} M instructions, {self._windows}"
        wall = max(float(event["wall_seconds"] - self._before["wall_seconds"]), 1e-3)
        text = f"{event['phase']}: {done / 1e6:.0f} M instructions, {done / wall / 1e6:.2f} MIPS"
        if self._expected is not None and self._expected > done > _TELLING * self._expected:
            text += f", about {(self._expected - done) * wall / done / 60:.0f} min left"
        return text


def _expected_instructions(point: Point) -> float | None:
    """Instructions of an earlier boot of the same kernel on as many cores, or scaled from another number of them."""
    known = []
    for path in entry_path("checkpoints", "x", {}).parent.glob(f"{point.source}-*-c*/boot.json"):
        facts = json.loads(path.read_text(encoding="utf-8"))
        known.append((abs(facts["cores"] - point.cores), float(facts["instructions"])))
    return min(known)[1] if known else None


def _boot(point: Point, kernel: Kernel, image: Image, gem5: Gem5, folder: Path, current: Step) -> None:
    state, log = folder / "cpt", folder / _LOG
    with tempfile.NamedTemporaryFile(prefix="mosbench-empty-disk-") as empty:
        empty.truncate(image.disk_mib << 20)
        disks = (image.boot, Path(empty.name))
        command = simulate_command(gem5, "boot", point, kernel, disks, folder, ["--checkpoint", state])
        reader = _follow_boot(command, point, folder, current)
    console = folder / CONSOLE
    said = list(gem5_log.events(log.read_text(encoding="utf-8", errors="replace")))
    end = next((event for event in said if event["event"] == "end"), None)
    _check_end(end, reader, console)
    assert end is not None
    facts = {"cores": point.cores, **{key: end[key] for key in ("instructions", "guest_seconds", "wall_seconds", "cpu_seconds")}}
    (folder / "boot.json").write_text(json.dumps(facts) + "\n", encoding="utf-8")
    shutil.move(console, folder / "console.log")


def _follow_boot(command: list[str | Path], point: Point, folder: Path, current: Step) -> ConsoleReader:
    user = settings.load()
    limits = Limits(boot_silence=user.boot_silence_seconds * SLOWNESS, run=user.run_seconds * SLOWNESS)
    log = folder / _LOG
    progress = Progress(log, _expected_instructions(point))
    return follow(
        command, folder, limits, current, console=folder / CONSOLE, log=log, note=progress, diagnosis=gem5_log.diagnosis
    )


def _check_end(end: Mapping[str, Any] | None, reader: ConsoleReader, console: Path) -> None:
    """Raise what a boot that did not reach its checkpoint came to."""
    cause = "nothing" if end is None else str(end["cause"])
    if cause == "checkpoint" and reader.find("boot") is not None:
        return
    if cause == "boot-hang" and reader.panic is None:
        raise Failure(
            Outcome.BOOT_HANG,
            f"The guest printed nothing for a minute of its own time while it booted; its last line is '{reader.last_line}'.",
            f"{console} has the boot log.",
        )
    judge(reader, console)  # a panic, or init that gave up, says why
    raise Failure(
        Outcome.ENGINE_CRASH,
        f"gem5 stopped before the guest had booted ({cause}).",
        f"{console} and gem5.log beside it say more.",
    )
