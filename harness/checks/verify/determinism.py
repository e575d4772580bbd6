# SPDX-License-Identifier: BSD-3-Clause
"""Does the same point give the same bytes, whatever else the host does?

Each point is run twice, the second time while busy processes keep every processor of the host occupied twice over. All tables,
the engine's raw records and the console must be the same byte for byte.
"""

import argparse
import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.table import Table

from analysis.attribute import schema
from analysis.attribute.tables import path_of
from common.terminal import console
from harness.checks.registry import Check
from harness.checks.verify.measuring import add_engine_option, keep, point, prepare_host, scratch, skipped
from harness.run import runner

NAME = "determinism"
SUMMARY = "the same point twice, the second time under full host load: the same bytes"

_POINTS = (
    "workload=micro:open-close:iterations=23,warmup=11 * cores=48",
    "workload=memcached * cores=6 * trial=2",
)
_GEM5_POINTS = (
    'engine=gem5 * machine=small-2x2 * set.node_mib=256 * cores=4 * workload="micro:open-close:iterations=23,warmup=11"',
)
_FILES = ("console.log", "engine/records.bin")


@contextmanager
def load(processes: int) -> Iterator[None]:
    """That many processes that never wait, while the body runs."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def differences(first: Path, second: Path) -> dict[str, bool]:
    """File -> whether it is the same in both run directories: the console, the records, every table that there must be or is."""
    tables = {path_of(first, name).name for name in schema.load().tables}
    tables |= {path.name for folder in (first, second) for path in folder.glob("*.parquet")}
    return {name: _digest(first / name) == _digest(second / name) for name in (*_FILES, *sorted(tables))}


def _digest(path: Path) -> str:
    if not path.is_file():
        return f"{path} is missing"  # equal to nothing
    return hashlib.sha256(path.read_bytes()).hexdigest()


def configure(parser: argparse.ArgumentParser) -> None:
    add_engine_option(parser)


def run(arguments: argparse.Namespace) -> Check:
    """Run each point twice, print file by file whether it is the same."""
    engine = arguments.engine
    if (nothing := skipped(NAME, engine)) is not None:
        return nothing
    prepare_host()
    points = _POINTS if engine == "fast" else _GEM5_POINTS
    processes = 2 * (os.cpu_count() or 1)
    table = Table("point", "file", "", title="Quiet host and loaded host", title_justify="left")
    same = different = 0
    with scratch(NAME) as folder:
        for text in points:
            wanted = point(text)
            quiet = runner.run_point(wanted, folder / "quiet", reuse="none").folder
            with load(processes):
                loaded = runner.run_point(wanted, folder / "loaded", reuse="none").folder
            for name, equal in differences(quiet, loaded).items():
                table.add_row(wanted.title, name, "same" if equal else "[red]different[/]")
                same, different = same + equal, different + (not equal)
        console().print(table)
        figure = (
            f"{NAME}: engine {engine}, {same} files of {len(points)} points the same, {different} different, with {processes} "
            "busy processes on the host in the second run; wanted: 0 different"
        )
        if different:
            keep(folder)
    return Check(not different, figure, same + different)
