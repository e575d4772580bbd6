# SPDX-License-Identifier: BSD-3-Clause
"""The HyperQueue executor on a real server: two workers on this host, one of which disappears in the middle."""

import json
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_runs import command, hanging, point

from common.outcome import Failure, Outcome
from common.paths import REPOSITORY
from harness.checks import hyperqueue_cluster
from harness.checks.hyperqueue_cluster import NODE, Cluster
from harness.run import catalogue
from harness.run.executors import drive, hyperqueue
from harness.run.executors.base import Command, Finished, Seen, State
from harness.run.executors.hyperqueue import HyperQueueExecutor
from harness.run.executors.hyperqueue_client import ACCESS
from harness.run.executors.queue import QUEUES, Queue

POINTS = [point(1, {"trial": str(number)}) for number in range(1, 6)]


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    with hyperqueue_cluster.cluster(tmp_path / "cluster") as made:
        yield made


@pytest.fixture
def executor(cluster: Cluster) -> HyperQueueExecutor:
    return HyperQueueExecutor(str(cluster.access))


def fake(queue: Queue) -> Command:
    """Trial 1 hangs the first time that it runs, on whatever worker; the others are well."""
    return lambda task: [
        *command("hang" if task.point.trial == 1 and task.attempt == 1 else "ok"),
        *queue.command(task)[3:],
    ]


def test_a_worker_disappears(cluster: Cluster, executor: HyperQueueExecutor, tmp_path: Path) -> None:
    root = tmp_path / "runs"
    heard: list[Finished] = []
    lost: list[str] = []

    def kill() -> None:
        environment = Path(f"/proc/{hanging(root)}/environ").read_bytes().split(b"\0")
        lost.append(next(word.decode().partition("=")[2] for word in environment if word.startswith(f"{NODE}=".encode())))
        cluster.kill_node(lost[0])

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    ended = drive.run(executor, POINTS, root, "same", heard.append, fake)
    killer.join(10)
    assert len(lost) == 1
    assert [one.outcome for one in ended] == [Outcome.OK] * len(POINTS)
    assert heard == ended
    assert len(catalogue.complete_runs(root)) == len(POINTS)  # nothing lost
    assert [one.reused for one in ended] == [False] * len(POINTS)  # nothing twice
    assert [path.name for path in root.iterdir() if ".broken-" in path.name] == [f"{POINTS[0].id}.broken-1"]
    assert not (root / QUEUES).exists()


def test_ctrl_c_ends_what_runs(executor: HyperQueueExecutor, tmp_path: Path) -> None:
    root = tmp_path / "runs"
    found: list[int] = []

    def interrupt() -> None:
        found.append(hanging(root))
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(Failure, match="interrupted"):
        drive.run(executor, POINTS[:1], root, "same", lambda _: None, fake)
    assert not Path(f"/proc/{found[0]}").exists()  # when the command ends, so has what it had begun
    assert not list(root.glob("*.part")) and not (root / QUEUES).exists()


def test_how_commands_end(executor: HyperQueueExecutor, tmp_path: Path) -> None:
    queue = Queue.make(tmp_path, POINTS[:4], "same")
    ends = ["true", "exit 18", "kill -9 $$", "echo $MOSBENCH_CACHE >&2; pwd"]
    executor.submit(list(queue.tasks.values()), lambda task: ["sh", "-c", ends[task.number]])
    found: dict[int, Seen] = {}
    end = time.monotonic() + 120
    while len(found) < len(ends) and time.monotonic() < end:
        time.sleep(0.1)
        found |= {number: seen for number, seen in executor.poll().items() if seen.state is State.ENDED}
    assert sorted(found) == [0, 1, 2, 3]
    assert [found[number].status for number in range(4)] == [0, 18, -9, 0]
    assert queue.tasks[3].errors.read_text().strip() == os.environ.get("MOSBENCH_CACHE", "")
    assert queue.tasks[3].output.read_text().strip() == str(REPOSITORY)
    assert executor.poll() == {}


def test_so_many_at_a_time(cluster: Cluster, tmp_path: Path) -> None:
    queue = Queue.make(tmp_path, POINTS[:3], "same")
    executor = HyperQueueExecutor(str(cluster.access), 1)
    executor.submit(list(queue.tasks.values()), lambda task: ["true"])
    assert len(executor.poll()) == 1


def test_a_server_that_disappears(
    cluster: Cluster, executor: HyperQueueExecutor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = Queue.make(tmp_path, POINTS[:1], "same")
    executor.submit(list(queue.tasks.values()), lambda task: ["sleep", "60"])
    cluster.stop_server()
    assert executor.poll() == {}  # it may be started again
    monkeypatch.setattr(hyperqueue, "_SILENT_SECONDS", 0.0)
    with pytest.raises(Failure, match=r"HyperQueue has not answered for 0 s \(.*unreachable"):
        executor.poll()


def test_a_server_that_was_started_again_does_not_know_its_jobs(
    cluster: Cluster, executor: HyperQueueExecutor, tmp_path: Path
) -> None:
    queue = Queue.make(tmp_path / "runs", POINTS[:1], "same")
    executor.submit(list(queue.tasks.values()), lambda task: ["sleep", "60"])
    with hyperqueue_cluster.cluster(tmp_path / "other", 0) as other:
        (cluster.access / ACCESS).write_bytes((other.access / ACCESS).read_bytes())
        assert executor.poll() == {0: Seen(State.ENDED, None, "HyperQueue does not know its job any more")}


def test_no_server(tmp_path: Path) -> None:
    with pytest.raises(Failure, match=r"bad-input: HyperQueue takes no points: .*not a directory|Invalid server directory"):
        drive.run(HyperQueueExecutor(str(tmp_path / "none")), POINTS, tmp_path / "runs", "same", lambda _: None, fake)
    assert not (tmp_path / "runs" / QUEUES).exists()


def test_a_server_of_another_version(cluster: Cluster, executor: HyperQueueExecutor, tmp_path: Path) -> None:
    file = cluster.access / ACCESS
    file.write_text(json.dumps(json.loads(file.read_bytes()) | {"version": "v0.1.0"}))
    with pytest.raises(Failure, match=r"HyperQueue takes no points: .*v0\.1\.0"):
        drive.run(executor, POINTS, tmp_path / "runs", "same", lambda _: None, fake)
