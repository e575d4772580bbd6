# SPDX-License-Identifier: BSD-3-Clause
"""Does the same point give the same bytes, whatever else the host does?

Each point is run twice, the second time while busy processes keep every processor of the host occupied twice over. All files but
those that are about the host and the command must be the same byte for byte.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.table import Table

from common.terminal import console
from harness.checks.registry import Check
from harness.checks.verify.measuring import (
    add_engine_option,
    add_set_option,
    keep,
    point,
    prepare_host,
    scratch,
    skipped,
    with_settings,
)
from harness.run import reproduction, runner
from harness.spec.point import Point

NAME = "determinism"
SUMMARY = "the same point twice, the second time under full host load: the same bytes"

_POINTS = (
    "workload=micro:open-close:iterations=23,warmup=11 * cores=48",
    "workload=memcached:load=loopback * cores=6 * trial=2",
    "workload=memcached:load=card,requests=200,warmup=40 * cores=6",
    "workload=postgresql:read-write:load=card,rows=2000,table=guest,batch=64 * cores=2",
)
_GEM5_POINTS = (
    'engine=gem5 * machine=small-2x2 * set.node_mib=256 * cores=4 * workload="micro:open-close:iterations=23,warmup=11"',
)


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


def configure(parser: argparse.ArgumentParser) -> None:
    add_engine_option(parser)
    add_set_option(parser)


def planned(arguments: argparse.Namespace) -> list[Point]:
    """What `run` runs, each twice."""
    return [one for one in _points(arguments) for _ in range(2)]


def _points(arguments: argparse.Namespace) -> list[Point]:
    texts = _POINTS if arguments.engine == "fast" else _GEM5_POINTS
    return [point(with_settings(text, arguments.set)) for text in texts]


def run(arguments: argparse.Namespace) -> Check:
    """Run each point twice, print file by file whether it is the same."""
    engine = arguments.engine
    if (nothing := skipped(NAME, engine)) is not None:
        return nothing
    prepare_host()
    points = _points(arguments)
    processes = 2 * (os.cpu_count() or 1)
    table = Table("point", "file", "", title="Quiet host and loaded host", title_justify="left")
    same = different = 0
    with scratch(NAME) as folder:
        for wanted in points:
            quiet = runner.run_point(wanted, folder / "quiet", reuse="none").folder
            with load(processes):
                loaded = runner.run_point(wanted, folder / "loaded", reuse="none").folder
            for one in reproduction.files(quiet, loaded):
                table.add_row(wanted.title, one.name, "same" if one.same else "[red]different[/]")
                same, different = same + one.same, different + (not one.same)
        console().print(table)
        figure = (
            f"{NAME}: engine {engine}, {same} files of {len(points)} points the same, {different} different, with {processes} "
            "busy processes on the host in the second run; wanted: 0 different"
        )
        if different:
            keep(folder)
    return Check(not different, figure, same + different)
