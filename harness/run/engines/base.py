# SPDX-License-Identifier: BSD-3-Clause
"""What an engine is to the harness, and which ones there are."""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from common import settings
from common.outcome import Failure, Outcome, bad_input
from common.progress import Step
from harness.build.image import Image
from harness.build.kernel import Kernel
from harness.spec.point import Point


@dataclass(frozen=True)
class EngineBuild:
    """A built or found engine."""

    name: str
    folder: Path
    digest: str
    """Hash of everything that can change a record: its programs as they were built, how they are called, and firmware."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """For provenance.json, for example qemu: 1:7.2+dfsg-7."""
    note: str = ""
    """What tables say in brackets beside the engine's name wherever it stands, in a few words."""
    has_l3: bool = True
    """Whether its machines have the L3 of the machine file, and records tell of it."""
    cycles: str = ""
    """Whose its cycles are, as tables with cycles in them say it: "cycles are ..."."""


class Engine(Protocol):
    """One engine. An instance is made for one command and keeps what `prepare` found."""

    name: str

    def prepare(self) -> EngineBuild:
        """Build or find the engine; quick when that was done before.

        Raises:
            Failure: bad-input, when it cannot be had on this host, with the way to get it.
        """
        ...

    def execute(self, point: Point, kernel: Kernel, image: Image, folder: Path, step: Step) -> None:
        """Run ``point``, leaving ``folder/console.log`` and files in ``folder/engine/`` (which exists) behind.

        The guest's memory at the end of the region goes to ``engine/memory.elf``, the records to ``engine/records.bin``.
        `harness.run.guest_process.supervise` does the watching.

        Raises:
            Failure: every typed outcome but ok; no process is left behind.
        """
        ...


def no_region() -> Failure:
    """What is said of a job that ended well and marked nothing."""
    return Failure(
        Outcome.APPLICATION_FAILED,
        "The workload marked no region of interest, so there is nothing to count.",
        "It must call `roi begin` and `roi end`, with the environment that init gave it.",
    )


# name -> "module:class", imported when asked for, so that a broken engine does not break the others.
_REGISTRY: Mapping[str, str] = {"fast": "harness.run.engines.fast:FastEngine", "gem5": "harness.run.engines.gem5:Gem5Engine"}


_processors: int | None = None


def use_processors(count: int) -> None:
    """Let the engine of a point keep no more than ``count`` processors of this host busy, from now on."""
    global _processors
    _processors = count


def processors() -> int:
    """How many processors of this host a point's engine may keep busy: those of the settings (`jobs`), or as many as
    `use_processors` said."""
    return _processors or settings.load().job_count


_prepared: dict[str, EngineBuild] = {}


def remember(build: EngineBuild) -> EngineBuild:
    """``build``, which an engine's `prepare` has found; `prepared` names it from then on."""
    _prepared[build.name] = build
    return build


def prepared() -> list[EngineBuild]:
    """The engines that this process has prepared, sorted by name."""
    return [_prepared[name] for name in sorted(_prepared)]


def names() -> list[str]:
    return sorted(_REGISTRY)


def engine(name: str) -> Engine:
    """A new instance of the named engine.

    Raises:
        Failure: bad-input, when there is none of that name.
    """
    if name not in _REGISTRY:
        raise bad_input(f"There is no engine {name!r}.", f"Use one of {', '.join(names())}.")
    module, _, attribute = _REGISTRY[name].partition(":")
    made: Engine = getattr(importlib.import_module(module), attribute)()
    return made
