# SPDX-License-Identifier: BSD-3-Clause
"""The gem5 engine: a checkpoint of the booted guest is restored into timing processors and caches, and runs the job."""

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

from harness import settings
from harness.cache import hash_files
from harness.console import judge
from harness.engines import gem5_log
from harness.engines.base import EngineBuild
from harness.engines.gem5_binary import CONFIGS, PROTOCOL, Gem5, find
from harness.engines.gem5_checkpoint import CONSOLE, SLOWNESS, Checkpoint, Progress, checkpoint, simulate_command
from harness.guest_process import Limits, follow
from harness.image import Image
from harness.kernel import Kernel
from harness.outcome import Failure, Outcome
from harness.point import Point
from harness.progress import Step

_JOB_ENDED = "m5_exit instruction encountered"


class Gem5Engine:
    """See `harness.engines.base.Engine`. For checks and tests: without ``tapped`` nothing is counted but gem5's own statistics;
    ``deadlock_cycles`` in place of the board's threshold."""

    name = "gem5"

    def __init__(self, tapped: bool = True, deadlock_cycles: int | None = None) -> None:
        self._options = [] if tapped else ["--no-tap"]
        self._options += [] if deadlock_cycles is None else ["--deadlock-cycles", str(deadlock_cycles)]
        self._gem5: Gem5 | None = None

    def prepare(self) -> EngineBuild:
        self._gem5 = find()
        digest = hashlib.sha256(f"{self._gem5.digest} {configuration_digest()}".encode()).hexdigest()
        return EngineBuild(
            name=self.name,
            folder=self._gem5.binary.parent,
            digest=digest,
            versions={"gem5": self._gem5.version, "protocol": PROTOCOL, "l3": "none"},
        )

    def execute(self, point: Point, kernel: Kernel, image: Image, folder: Path, step: Step) -> None:
        if self._gem5 is None:
            self.prepare()
        assert self._gem5 is not None
        booted = checkpoint(point, kernel, image, self._gem5)
        engine = folder / "engine"
        job = engine / "job"
        job.write_text(point.job + "\n", encoding="utf-8")
        more: list[str | Path] = ["--checkpoint", booted.state, "--job", job, "--output", engine, *self._options]
        command = simulate_command(self._gem5, "run", point, kernel, image, engine, more)
        user = settings.load()
        limits = Limits(boot_silence=user.boot_silence_seconds * SLOWNESS, run=user.run_seconds * SLOWNESS, exit=60.0 * SLOWNESS)
        log, console = engine / "gem5.log", engine / CONSOLE
        reader = follow(
            command, folder, limits, step, console=console, log=log, note=Progress(log, None), diagnosis=gem5_log.diagnosis
        )
        said = list(gem5_log.events(log.read_text(encoding="utf-8", errors="replace")))
        _write_console(booted, console, folder / "console.log")
        judge(reader, folder / "console.log")
        _check(said, engine)
        _write_facts(said, booted, engine)
        for leftover in ("config.json", "citations.bib", "fs"):
            _remove(engine / leftover)


def configuration_digest() -> str:
    """Hash of our part of the simulation that is not in the binary."""
    return hash_files(CONFIGS / "board", CONFIGS / "simulate.py")


def _write_console(booted: Checkpoint, console: Path, whole: Path) -> None:
    """The guest's console from its first line on: what it said before the checkpoint is kept there."""
    whole.write_bytes(booted.console + (console.read_bytes() if console.exists() else b""))
    console.unlink(missing_ok=True)


def _check(said: list[dict[str, Any]], engine: Path) -> None:
    """Refuse a run whose region or statistics are not whole.

    Raises:
        Failure: engine-crash or application-failed.
    """
    end = next((event for event in said if event["event"] == "end"), None)
    if end is None or end["cause"] != _JOB_ENDED:
        cause = "without a word" if end is None else f"with '{end['cause']}'"
        raise Failure(Outcome.ENGINE_CRASH, f"gem5 ended {cause} before the job had.", f"{engine / 'gem5.log'} says more.")
    if _mark(said, "written") is None:
        raise Failure(
            Outcome.APPLICATION_FAILED,
            "The workload marked no region of interest, so there is nothing to count.",
            "It must call `roi begin` and `roi end`, with the environment that init gave it.",
        )
    gem5_log.check_stats(engine / "stats.txt")


def _mark(said: list[dict[str, Any]], name: str) -> dict[str, Any] | None:
    return next((event for event in said if event["event"] == "mark" and event["mark"] == name), None)


def _write_facts(said: list[dict[str, Any]], booted: Checkpoint, engine: Path) -> None:
    """engine.json: the boot (once for all runs from the checkpoint), the region and the whole."""
    region, written = _mark(said, "end"), _mark(said, "written")
    assert region is not None and written is not None
    progress = [event for event in said if event["event"] == "progress"]
    before = [event for event in progress if event["phase"] not in ("region", "after")]
    facts = {
        "engine": "gem5",
        "protocol": PROTOCOL,
        "l3": None,
        "boot": booted.facts,
        "phases": {
            "before": {"wall_seconds": before[-1]["wall_seconds"] if before else 0.0},
            "region": {
                "wall_seconds": region["wall_seconds"],
                "cpu_seconds": region["cpu_seconds"],
                "instructions": region["instructions"],
                "guest_seconds": region["guest_seconds"],
            },
            "snapshot": {"wall_seconds": written["wall_seconds"]},
            "all": {"wall_seconds": progress[-1]["wall_seconds"] if progress else 0.0},
        },
    }
    (engine / "engine.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
