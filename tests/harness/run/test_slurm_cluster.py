# SPDX-License-Identifier: BSD-3-Clause
"""The Slurm executor on a real Slurm: two nodes on this host, one of which disappears in the middle."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_runs import command, hanging, point

from common.outcome import Failure, Outcome
from harness.checks import slurm_cluster
from harness.checks.slurm_cluster import Cluster
from harness.run import catalogue
from harness.run.executors import drive
from harness.run.executors.base import Command, Finished
from harness.run.executors.queue import QUEUES, Queue
from harness.run.executors.slurm import SlurmExecutor

pytestmark = pytest.mark.skipif(bool(slurm_cluster.why_not()), reason=slurm_cluster.why_not() or "there is one")

POINTS = [point(1, {"trial": str(number)}) for number in range(1, 6)]


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    with slurm_cluster.cluster(tmp_path / "cluster") as made:
        for name, value in made.environment.items():
            monkeypatch.setenv(name, value)
        yield made


def fake(queue: Queue) -> Command:
    """Trial 1 hangs the first time that it runs, on whatever node; the others are well."""
    return lambda task: [
        *command("hang" if task.point.trial == 1 and task.attempt == 1 else "ok"),
        *queue.command(task)[3:],
    ]


def test_a_node_disappears(cluster: Cluster, tmp_path: Path) -> None:
    root = tmp_path / "runs"
    heard: list[Finished] = []
    lost: list[str] = []

    def kill() -> None:
        environment = Path(f"/proc/{hanging(root)}/environ").read_bytes().split(b"\0")
        lost.append(next(word.decode().partition("=")[2] for word in environment if word.startswith(b"SLURMD_NODENAME=")))
        cluster.kill_node(lost[0])

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    ended = drive.run(SlurmExecutor(["--partition=test"]), POINTS, root, "same", heard.append, fake)
    killer.join(10)
    assert len(lost) == 1
    assert [one.outcome for one in ended] == [Outcome.OK] * len(POINTS)
    assert heard == ended
    assert len(catalogue.complete_runs(root)) == len(POINTS)  # nothing lost
    assert [one.reused for one in ended] == [False] * len(POINTS)  # nothing twice
    assert [path.name for path in root.iterdir() if ".broken-" in path.name] == [f"{POINTS[0].id}.broken-1"]
    assert not (root / QUEUES).exists()


def test_a_partition_that_does_not_exist(cluster: Cluster, tmp_path: Path) -> None:
    with pytest.raises(Failure, match=r"Slurm refuses the points: .*invalid partition") as caught:
        drive.run(SlurmExecutor(["--partition=none"]), POINTS, tmp_path / "runs", "same", lambda _: None, fake)
    assert caught.value.outcome is Outcome.BAD_INPUT
