# SPDX-License-Identifier: BSD-3-Clause
"""Is nothing lost, and nothing run twice, when a host disappears in the middle of a sweep?

A Slurm cluster of two nodes is started on this host, and a sweep of real guests on the small machine runs on it. When both nodes
have begun a job one of them is killed with all that runs on it. Its point must run again on the other; every point must be
complete at the end, and none but the one that was lost begun twice. Then the same sweep once more: nothing may be submitted.
The same on a HyperQueue server with two workers.
"""

import argparse
import os
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from unittest import mock

from rich.table import Table

from common.outcome import Outcome
from common.terminal import console
from harness.checks import hyperqueue_cluster, slurm_cluster
from harness.checks.registry import Check
from harness.checks.verify.faults import wait_for
from harness.checks.verify.measuring import keep, prepare_host, scratch
from harness.run import catalogue, many
from harness.run.executors import drive
from harness.run.executors.base import Executor, Finished
from harness.run.executors.hyperqueue import HyperQueueExecutor
from harness.run.executors.slurm import SlurmExecutor
from harness.spec import point as points
from harness.spec import sweep
from harness.spec.point import Point

NAME = "executors"
SUMMARY = "points on a Slurm and a HyperQueue cluster on this host, a node killed in the middle: nothing lost, nothing run twice"

BESIDES = "They run on Slurm and on HyperQueue, and the point of the node that is killed is begun once more."

_SWEEP = "machine=small-2x2 * workload=micro:stat:iterations=20011 * cores=1+2+3+4"


class _Cluster(Protocol):
    """Hosts, of which any can disappear."""

    nodes: tuple[str, ...]
    environment: Mapping[str, str]

    def kill_node(self, name: str) -> None: ...


@dataclass(frozen=True)
class _BackEnd:
    name: str
    start: Callable[[Path], AbstractContextManager[Any]]
    executor: Callable[[Any], Executor]
    """What runs points on a cluster that ``start`` has started."""
    why_not: Callable[[], str]


_BACK_ENDS = (
    _BackEnd("slurm", slurm_cluster.cluster, lambda made: SlurmExecutor(["--partition=test"]), slurm_cluster.why_not),
    _BackEnd("hyperqueue", hyperqueue_cluster.cluster, lambda made: HyperQueueExecutor(str(made.access)), lambda: ""),
)


def planned(_: argparse.Namespace) -> list[Point]:
    """What `run` runs."""
    return [points.resolve(one) for one in sweep.parse(_SWEEP).settings]


def run(arguments: argparse.Namespace) -> Check:
    """On each back end run the sweep, kill a node, run the sweep again; print how each point ended."""
    prepare_host()
    wanted = planned(arguments)
    many.prepare_all(wanted)
    table = Table("on", "point", "outcome", "said", title="Points on two nodes, one of which was killed", title_justify="left")
    problems: list[str] = []
    figures: list[str] = []
    judged = 0
    for back_end in _BACK_ENDS:
        if why := back_end.why_not():
            figures.append(f"{back_end.name}: skipped, nothing was run: {why}")
            continue
        ended, killed, again, found = _on(back_end, wanted)
        problems += [f"{back_end.name}: {problem}" for problem in found]
        for one in ended:
            table.add_row(back_end.name, one.point.title, one.outcome.value, one.what)
        complete = sum(one.outcome is Outcome.OK for one in ended)
        figures.append(
            f"{back_end.name}: {len(wanted)} points, {complete} complete after {killed or 'no node'} was killed, "
            f"{again} of them not submitted again"
        )
        judged += len(ended)
    console().print(table)
    for problem in problems:
        print(problem)
    return Check(not problems, f"{NAME}: {'; '.join(figures)}; {len(problems)} shortcomings, wanted: 0", judged)


def _on(back_end: _BackEnd, wanted: list[Point]) -> tuple[list[Finished], str, int, list[str]]:
    """How the points ended, the node that was killed, how many would not be submitted again, and what is not as it must be."""
    with scratch(f"{NAME}-{back_end.name}") as folder, back_end.start(folder / "cluster") as made:
        with mock.patch.dict(os.environ, made.environment):
            ended, killed = _with_a_node_killed(made, back_end.executor(made), wanted, folder / "runs")
            problems = _judge(folder / "runs", wanted, ended, killed)
            again, missing = many.complete(wanted, folder / "runs", "same")
            problems += [f"{point.title}: would be submitted again" for point in missing]
        if problems:
            keep(folder)
    return ended, killed, len(again), problems


def _with_a_node_killed(made: _Cluster, executor: Executor, wanted: list[Point], root: Path) -> tuple[list[Finished], str]:
    """Run the points; as soon as a guest on either node has begun its job, the first node disappears."""
    killed: list[str] = []
    over = threading.Event()

    def in_regions() -> bool:
        logs = [log for log in root.glob(".*.part/console.log") if b'"event":"start"' in log.read_bytes()]
        return over.is_set() or len(logs) >= len(made.nodes)

    def kill() -> None:
        if wait_for(in_regions) and not over.is_set():
            killed.append(made.nodes[0])
            made.kill_node(made.nodes[0])

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    try:
        return drive.run(executor, wanted, root, "same", lambda _: None), "".join(killed)
    finally:
        over.set()
        killer.join(10)


def _judge(root: Path, wanted: list[Point], ended: list[Finished], killed: str) -> list[str]:
    """What is not as it must be."""
    problems = [f"{one.point.title}: {one.outcome.value}: {one.what}" for one in ended if one.outcome is not Outcome.OK]
    if sorted(one.point.id for one in ended) != sorted(point.id for point in wanted):
        problems.append(f"{len(ended)} points ended of {len(wanted)}")
    if sorted(path.name for path in catalogue.complete_runs(root)) != sorted(point.id for point in wanted):
        problems.append("not every point is a complete run")
    problems += [f"{one.point.title}: was run by another task" for one in ended if one.reused]
    aside = [row.name for row in catalogue.rows(root) if row.state != Outcome.OK]
    if not killed:
        problems.append("no node was killed: the points were done before")
    elif [name.rpartition(".")[2] for name in aside] != ["broken-1"]:
        problems.append(f"of the point whose node was lost one broken run should be there, and there is {aside or 'none'}")
    return problems
