# SPDX-License-Identifier: BSD-3-Clause
"""The gem5 engine: from the checkpoint of a booted guest a job runs without caches up to where it warms up, and from there on
with timing processors, caches and interconnect; or with these from its start, where the machine says so (`caches_from`). Or
windows of it are measured (`windows`), and what is between them runs without caches, which are filled before each."""

import hashlib
import json
import math
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from common import settings
from common.cache import hash_files
from common.outcome import Failure, Outcome, bad_input
from common.progress import Step
from harness.build.coherence_model import CARD, build_model
from harness.build.image import Image
from harness.build.kernel import Kernel
from harness.run.console import ConsoleReader, judge
from harness.run.engines import gem5_log, gem5_windows
from harness.run.engines.base import EngineBuild, no_region, remember
from harness.run.engines.gem5_binary import CONFIGS, Gem5, find
from harness.run.engines.gem5_checkpoint import CONSOLE, SLOWNESS, Checkpoint, Progress, checkpoint, simulate_command
from harness.run.guest_process import NO_LIMITS, Limits, follow
from harness.spec.point import NETWORK_CARD, Point

_JOB_ENDED = "m5_exit instruction encountered"
_START = "start of the job"
"""The phase in which no mark has been reached."""
_REGION_ENDED, _NO_WINDOW = "region ended", "no window"


@dataclass(frozen=True)
class Debugger:
    """Who looks at a guest from where its region begins on: the port of this host, and what is called when it may connect."""

    port: int
    waited_for: Callable[[], None]


class Gem5Engine:
    """See `harness.run.engines.base.Engine`. For checks and tests: without ``tapped`` only gem5's own statistics are
    counted; with ``only_region`` gem5 ends with the region, before the job tells its result; ``deadlock_cycles`` in place of the
    board's threshold; with ``alternate_ticks`` the tap is off and on in slices of the region that long, whose processor seconds
    are in engine/slices.json; the guest waits for a ``debugger``, however long."""

    name = "gem5"

    def __init__(
        self,
        tapped: bool = True,
        deadlock_cycles: int | None = None,
        alternate_ticks: int | None = None,
        only_region: bool = False,
        debugger: Debugger | None = None,
    ) -> None:
        self._end = _REGION_ENDED if only_region else _JOB_ENDED
        self._options = [] if tapped else ["--no-tap"]
        self._options += ["--only-region"] if only_region else []
        self._options += [] if alternate_ticks is None else ["--alternate-ticks", str(alternate_ticks)]
        self._options += [] if deadlock_cycles is None else ["--deadlock-cycles", str(deadlock_cycles)]
        self._options += [] if debugger is None else ["--gdb-port", str(debugger.port)]
        self._debugger = debugger
        self._gem5: Gem5 | None = None

    def prepare(self) -> EngineBuild:
        self._gem5 = find()
        card = "" if self._gem5.no_card else hash_files(build_model() / CARD)
        digest = hashlib.sha256(f"{self._gem5.digest} {configuration_digest()} {card}".encode()).hexdigest()
        return remember(
            EngineBuild(
                name=self.name,
                folder=self._gem5.binary.parent,
                digest=digest,
                versions={"gem5": self._gem5.version, "protocol": self._gem5.protocol},
                note="" if self._gem5.has_l3 else "no L3",
                has_l3=self._gem5.has_l3,
                cycles="of processors that wait for each access",
            )
        )

    def execute(self, point: Point, kernel: Kernel, image: Image, folder: Path, step: Step) -> None:
        if self._gem5 is None:
            self.prepare()
        assert self._gem5 is not None
        if NETWORK_CARD in point.parts and self._gem5.no_card:
            raise bad_input(
                f"{point.workload_text} needs the network card, and {self._gem5.binary} {self._gem5.no_card}.",
                "Build the gem5 that README.md describes, or run it with load=loopback where the workload can.",
            )
        gem5_windows.check(point, self._gem5)
        booted = checkpoint(point, kernel, image, self._gem5)
        engine = folder / "engine"
        job = engine / "job"
        job.write_text(point.job + "\n", encoding="utf-8")
        console = _Console(folder / "console.log", booted.console)

        def simulate(action: str, place: Path, options: list[str | Path], console: _Console = console) -> list[dict[str, Any]]:
            place.mkdir(exist_ok=True)
            assert self._gem5 is not None
            disks = (image.boot, image.root)
            command = simulate_command(self._gem5, action, point, kernel, disks, place, ["--job", job, *options])
            progress = Progress(place / "gem5.log", warm_ups=_warm_ups(point), marks=self._at_mark)
            return _follow(command, place, console, step, progress, booted, limited=self._debugger is None)

        options: list[str | Path] = ["--from", booted.state, "--output", engine, "--trial", str(point.trial), *self._options]
        if point.machine.windows:
            count = engine / "count"
            count.mkdir()

            def counted() -> int:
                only = _Console(count / "console.log", booted.console)
                return _instructions(simulate("sample", count, ["--from", booted.state], only), only)

            instructions = gem5_windows.region_instructions(point, image, booted, configuration_digest(), counted)
            said = simulate("sample", engine, [*options, *gem5_windows.options(point, instructions)])
            _remove(count)
            gem5_windows.put_together(engine)
        else:
            from_job = ["--caches-from-job"] if point.machine.caches_from == "job" else []
            said = simulate("measure", engine, [*options, *from_job])
        end = _end(said)
        console.judge(ended=end is not None and end["cause"] == _JOB_ENDED)
        _check(said, engine, self._end)
        _write_facts(self._gem5.protocol, said, booted, engine)
        for leftover in ("config.json", "citations.bib", "fs"):
            _remove(engine / leftover)

    def _at_mark(self, mark: str) -> None:
        if mark == "gdb" and self._debugger is not None:
            self._debugger.waited_for()


class _Console:
    """The guest's console from its first line on, of which each simulation writes a part."""

    def __init__(self, path: Path, before: bytes) -> None:
        self.path = path
        path.write_bytes(before)

    def append(self, part: Path) -> None:
        if part.exists():
            with open(self.path, "ab") as whole:
                whole.write(part.read_bytes())
            part.unlink()

    def judge(self, ended: bool = True) -> None:
        """Raise what the guest says went wrong; where its job has not ``ended``, only a panic."""
        reader = ConsoleReader()
        reader.feed(self.path.read_bytes())
        reader.finish()
        if ended or reader.panic is not None:
            judge(reader, self.path)


def _warm_ups(point: Point) -> float | None:
    """How many times the work of its warm-up the region of ``point`` has, of a workload whose parameters tell."""
    counts = [int(point.parameters.get(name, 0)) for name in ("iterations", "warmup")]
    return counts[0] / counts[1] if all(counts) else None


def _follow(
    command: list[str | Path],
    place: Path,
    console: _Console,
    step: Step,
    progress: Progress,
    booted: Checkpoint,
    *,
    limited: bool,
) -> list[dict[str, Any]]:
    """Run one simulation with its output in ``place``, not ``limited`` for as long as it takes; returns its events."""
    user = settings.load()
    # A guest that says nothing is a matter of the boot alone: a region may take hours.
    limits = Limits(boot_silence=math.inf, run=user.run_seconds * SLOWNESS, exit=60.0 * SLOWNESS) if limited else NO_LIMITS
    log, part = place / "gem5.log", place / CONSOLE
    try:
        diagnosis = partial(gem5_log.diagnosis, checkpoint=booted.folder)
        follow(command, place, limits, step, console=part, log=log, note=progress, diagnosis=diagnosis)
    finally:
        console.append(part)
    return list(gem5_log.events(log.read_text(encoding="utf-8", errors="replace")))


def _instructions(said: list[dict[str, Any]], console: _Console) -> int:
    """What programs execute in the region, as a simulation has counted that was to do no more.

    Raises:
        Failure: the job or gem5 ended before.
    """
    end, region = _end(said), _mark(said, "end")
    if region is not None and end is not None and end["cause"] == _REGION_ENDED:
        return int(region["program_instructions"])
    if end is not None and end["cause"] == _JOB_ENDED:
        console.judge()
        raise no_region()
    raise _stopped(end, console.path)


def _stopped(end: dict[str, Any] | None, place: Path) -> Failure:
    cause = "without a word" if end is None else f"with '{end['cause']}'"
    return Failure(Outcome.ENGINE_CRASH, f"gem5 ended {cause} before the job had.", f"{place} and gem5.log beside it say more.")


def configuration_digest() -> str:
    """Hash of our part of the simulation that is not in the binary."""
    return hash_files(CONFIGS / "board", CONFIGS / "simulate.py", CONFIGS / "windows.py")


def _check(said: list[dict[str, Any]], engine: Path, wanted: str) -> None:
    """Refuse a run whose region or statistics are not whole.

    Raises:
        Failure: engine-crash or application-failed; bad-input, where the region is too short for its windows.
    """
    end = _end(said)
    if end is not None and end["cause"] == _NO_WINDOW:
        raise bad_input(
            "The region ended in each of its windows, so that none can be measured.",
            "Make the region longer, or window_cycles and window_lead_cycles shorter.",
        )
    if end is None or end["cause"] != wanted:
        raise _stopped(end, engine)
    if _mark(said, "written") is None:
        raise no_region()
    gem5_log.check_stats(engine / "stats.txt")


def _mark(said: list[dict[str, Any]], name: str) -> dict[str, Any] | None:
    return next((event for event in said if event["event"] == "mark" and event["mark"] == name), None)


def _end(said: list[dict[str, Any]]) -> dict[str, Any] | None:
    return next((event for event in said if event["event"] == "end"), None)


def _write_facts(protocol: str, said: list[dict[str, Any]], booted: Checkpoint, engine: Path) -> None:
    """engine.json: the boot (once for all runs from the checkpoint), and what each phase took, of what gem5 ``said``."""
    begin, region, written = (_mark(said, name) for name in ("begin", "end", "written"))
    end = _end(said)
    assert begin is not None and region is not None and written is not None and end is not None
    started = [event for event in said if event["event"] == "progress" and event["phase"] == _START][-1]
    facts = {
        "engine": "gem5",
        "protocol": protocol,
        "boot": booted.facts,
        "phases": {
            "start": {"wall_seconds": started["wall_seconds"], "instructions": started["instructions"]},
            "warm": {"wall_seconds": begin["wall_seconds"] - started["wall_seconds"]},
            "region": {key: region[key] for key in ("wall_seconds", "cpu_seconds", "instructions", "guest_seconds")},
            "snapshot": {"wall_seconds": written["wall_seconds"]},
            "all": {"wall_seconds": end["wall_seconds"]},
        },
    }
    (engine / "engine.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
