# SPDX-License-Identifier: BSD-3-Clause
"""Is nothing lost, and nothing run twice, when a host disappears in the middle of a sweep?

A Slurm cluster of two nodes is started on this host, and a sweep of real guests on the small machine runs on it. When both nodes
have begun a job one of them is killed with all that runs on it. Its point must run again on the other; every point must be
complete at the end, and none but the one that was lost begun twice. Then the same sweep once more: nothing may be submitted.
"""

import argparse
import os
import threading
from pathlib import Path
from unittest import mock

from rich.table import Table

from common.outcome import Outcome
from common.terminal import console
from harness.checks import slurm_cluster
from harness.checks.registry import Check
from harness.checks.slurm_cluster import Cluster
from harness.checks.verify.faults import wait_for
from harness.checks.verify.measuring import keep, prepare_host, scratch
from harness.run import catalogue, many
from harness.run.executors import drive
from harness.run.executors.base import Finished
from harness.run.executors.slurm import SlurmExecutor
from harness.spec import point as points
from harness.spec import sweep
from harness.spec.point import Point

NAME = "executors"
SUMMARY = "points on a Slurm cluster on this host, a node killed in the middle: nothing lost, nothing run twice"

BESIDES = "The point of the node that is killed is begun once more."

_SWEEP = "machine=small-2x2 * workload=micro:stat:iterations=20011 * cores=1+2+3+4"


def planned(_: argparse.Namespace) -> list[Point]:
    """What `run` runs."""
    return [points.resolve(one) for one in sweep.parse(_SWEEP).settings]


def run(arguments: argparse.Namespace) -> Check:
    """Run the sweep, kill a node, run the sweep again; print how each point ended."""
    if why := slurm_cluster.why_not():
        return Check(True, f"{NAME}: skipped, nothing was run: {why}.", None)
    prepare_host()
    wanted = planned(arguments)
    many.prepare_all(wanted)
    with scratch(NAME) as folder, slurm_cluster.cluster(folder / "cluster") as made:
        with mock.patch.dict(os.environ, made.environment):
            ended, killed = _with_a_node_killed(made, wanted, folder / "runs")
            problems = _judge(folder / "runs", wanted, ended, killed)
            again, missing = many.complete(wanted, folder / "runs", "same")
            problems += [f"{point.title}: would be submitted again" for point in missing]
        if problems:
            keep(folder)
    table = Table("point", "outcome", "said", title="Points on two nodes, one of which was killed", title_justify="left")
    for one in ended:
        table.add_row(one.point.title, one.outcome.value, one.what)
    console().print(table)
    for problem in problems:
        print(problem)
    figure = (
        f"{NAME}: {len(wanted)} points, {sum(one.outcome is Outcome.OK for one in ended)} complete after {killed or 'no node'} "
        f"was killed, {len(again)} of them not submitted again; {len(problems)} shortcomings, wanted: 0"
    )
    return Check(not problems, figure, len(ended))


def _with_a_node_killed(made: Cluster, wanted: list[Point], root: Path) -> tuple[list[Finished], str]:
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
        return drive.run(SlurmExecutor(["--partition=test"]), wanted, root, "same", lambda _: None), "".join(killed)
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
