# SPDX-License-Identifier: BSD-3-Clause
"""What the checks share: points run on an engine in a folder of their own, and what came out, without the extraction."""

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from analysis.attribute.records import Records, read_records
from common.arguments import counts_of_cores
from common.progress import step
from harness.build import host_packages, image, kernel
from harness.checks.registry import Check
from harness.run.console import ConsoleReader, ConsoleResult, judge
from harness.run.engines.base import Engine
from harness.run.engines.fast import FastEngine
from harness.run.engines.gem5 import Gem5Engine
from harness.run.engines.gem5_binary import why_absent
from harness.spec import point as points
from harness.spec import sweep
from harness.spec.kernel import source_named, sources
from harness.spec.machine import ENGINES
from harness.spec.point import Point

_KEEP = "keep"


def point(text: str) -> Point:
    """The one point that a text such as ``workload=micro:stat * cores=48`` means."""
    (settings,) = sweep.parse(text).settings
    return points.resolve(settings)


def add_engine_option(parser: argparse.ArgumentParser, engines: Sequence[str] = ENGINES) -> None:
    """--engine, of a check that can be made of each of ``engines``; the first is the default."""
    parser.add_argument("--engine", choices=engines, default=engines[0], help="%(default)s")


def add_set_option(parser: argparse.ArgumentParser) -> None:
    """--set KEY=VALUE, of a check whose answers hold on any machine; see `with_settings`."""
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="override a key of the machine")


def with_settings(text: str, settings: Sequence[str]) -> str:
    """The text of a point, on its machine with the keys ``settings`` ("l2_kib=1024") overridden."""
    return " * ".join([text, *(f"set.{setting}" for setting in settings)])


def add_source_option(parser: argparse.ArgumentParser, what: str) -> None:
    """--source NAME, or `default`; None without it."""
    known = sources()
    names = "{" + ",".join([*known, "default"]) + "}"
    parser.add_argument("--source", type=source_named, choices=known, metavar=names, help=what)


def add_cores_option(parser: argparse.ArgumentParser, default: Sequence[int]) -> None:
    """--cores N,M: numbers of cores, ``default`` without it."""
    text = ",".join(map(str, default))
    parser.add_argument("--cores", type=counts_of_cores, default=tuple(default), metavar="N,M", help=f"core counts ({text})")


def skipped(name: str, engine: str = "gem5") -> Check | None:
    """What a check says that cannot be done because there is no gem5; None if there is one, or it is not needed."""
    if engine != "gem5" or (why := why_absent()) is None:
        return None
    return Check(True, f"{name}: skipped, nothing was measured. {why}", None)


def prepare_host() -> None:
    """Packages that building and running points needs, as `run.py run` asks for them."""
    host_packages.require(*host_packages.of_groups("engine", "kernel", "image"))


@contextmanager
def variable(name: str, value: str) -> Iterator[None]:
    """Let the environment variable ``name`` be ``value``, and then what it was."""
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


@contextmanager
def scratch(name: str) -> Iterator[Path]:
    """A temporary folder for a check's runs. It stays when the check raises, and when `keep` was called for it."""
    folder = Path(tempfile.mkdtemp(prefix=f"mosbench-{name}-"))
    try:
        yield folder
    except BaseException:
        keep(folder)
        raise
    finally:
        if not (folder / _KEEP).exists():
            shutil.rmtree(folder)


def keep(folder: Path) -> None:
    """Leave the folder of `scratch` for a look, and say where it is."""
    (folder / _KEEP).touch()
    sys.stderr.write(f"What the check wrote is kept in {folder}\n")


@dataclass(frozen=True)
class Measured:
    """A run on the engine: what the guest said and what the engine wrote."""

    point: Point
    folder: Path
    console: ConsoleResult

    @property
    def result(self) -> dict[str, Any]:
        """The workload's result event."""
        return self.console.result

    @cached_property
    def records(self) -> Records:
        return read_records(self.folder / "engine" / "records.bin")

    @cached_property
    def engine(self) -> dict[str, Any]:
        """engine.json: quantum, and per phase (boot, warm, region, after) seconds, instructions and cycles."""
        value: dict[str, Any] = json.loads((self.folder / "engine" / "engine.json").read_text(encoding="utf-8"))
        return value

    def total(self, *columns: str) -> int:
        """Sum of columns of the table of lines."""
        return sum(int(self.records.column("lines", column).sum()) for column in columns)


def execute(wanted: Point, folder: Path, engine: Engine | None = None, options: Mapping[str, str] | None = None) -> Measured:
    """Run a point in the new folder ``folder``; no snapshot of the guest's memory is taken and nothing is extracted.

    Without ``engine`` it is the point's; ``options`` are settings of the fast one (its quantum, for example).

    Raises:
        Failure: every typed outcome but ok.
    """
    (folder / "engine").mkdir(parents=True)
    if engine is None:
        engine = Gem5Engine() if wanted.engine == "gem5" else FastEngine({"snapshot": "off", **(options or {})})
    engine.prepare()
    built, disk = kernel.build(wanted.source, wanted.fixes), image.of(wanted)
    with step(wanted.title) as current:
        engine.execute(wanted, built, disk, folder, current)
    return Measured(wanted, folder, read_console(folder / "console.log"))


def read_console(path: Path) -> ConsoleResult:
    """The console of a guest that ended well.

    Raises:
        Failure: it did not.
    """
    reader = ConsoleReader()
    reader.feed(path.read_bytes())
    return judge(reader, path)


def stored_by_all(lines: pa.Table, cores: Sequence[int]) -> npt.NDArray[np.bool_]:
    """Which rows of a run's table of lines are of lines that every one of the ``cores`` stored to."""
    every = np.uint64(sum(1 << core for core in cores))
    stored: npt.NDArray[np.bool_] = (lines.column("writers").to_numpy() & every) == every
    return stored


def deviation(got: float, want: float) -> float:
    """|got - want| / want; of zero wanted, zero if it was got and infinite if not."""
    if want == 0:
        return 0.0 if got == 0 else float("inf")
    return abs(got - want) / abs(want)
