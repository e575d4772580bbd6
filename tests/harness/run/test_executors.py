# SPDX-License-Identifier: BSD-3-Clause
"""Executors: what is lost runs again, what is complete never, failures are typed by what a task leaves. No cluster is needed."""

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from fake_runs import command, point

from common.outcome import Failure, Outcome
from harness.run import catalogue, leftovers
from harness.run.executors import drive, registry, slurm
from harness.run.executors.base import Command, Executor, Finished, Seen, State, Task
from harness.run.executors.inline import InlineExecutor
from harness.run.executors.local import LocalExecutor
from harness.run.executors.queue import QUEUES, TRIES, Queue
from harness.run.executors.registry import Wanted
from harness.spec.point import Point


def fake(mode: str) -> Callable[[Queue], Command]:
    return lambda queue: lambda task: [*command(mode), *queue.command(task)[3:]]


class Losing(InlineExecutor):
    """A back end that loses the first so many tasks: before they begin, or when they were done and nobody heard of it."""

    def __init__(self, losses: int, after: bool = False) -> None:
        super().__init__()
        self.losses, self.after, self.begun = losses, after, 0
        self.lost: dict[int, Task] = {}

    def submit(self, tasks: Sequence[Task], command: Command) -> None:
        for task in tasks:
            self.begun += 1
            if self.losses > 0:
                self.lost[task.number] = task
            self.losses -= 1
            super().submit([task], command if self.after or task.number not in self.lost else lambda task: ["true"])

    def poll(self) -> Mapping[int, Seen]:
        found = dict(super().poll())
        for number in found.keys() & self.lost.keys():
            self.lost.pop(number).output.write_text("")
            found[number] = Seen(State.ENDED, None, "NODE_FAIL")
        return found


def run(executor: Executor, root: Path, mode: str = "ok", reuse: str = "same") -> list[Finished]:
    return drive.run(executor, [point(1), point(2)], root, reuse, lambda _: None, fake(mode))


@pytest.mark.parametrize("make", [InlineExecutor, lambda: LocalExecutor(2)])
def test_good_points(make: Callable[[], Executor], tmp_path: Path) -> None:
    ended = run(make(), tmp_path)
    assert {one.outcome for one in ended} == {Outcome.OK}
    assert sorted(one.folder for one in ended if one.folder) == catalogue.complete_runs(tmp_path)
    assert not (tmp_path / QUEUES).exists()


def test_what_is_lost_runs_again(tmp_path: Path) -> None:
    executor = Losing(2)
    assert [one.outcome for one in run(executor, tmp_path)] == [Outcome.OK, Outcome.OK]
    assert executor.begun == 4


def test_what_was_done_before_its_host_was_lost_is_done(tmp_path: Path) -> None:
    executor = Losing(2, after=True)
    assert [one.outcome for one in run(executor, tmp_path)] == [Outcome.OK, Outcome.OK]
    assert executor.begun == 2


def test_what_is_always_lost_is_given_up(tmp_path: Path) -> None:
    executor = Losing(100)
    ended = run(executor, tmp_path)
    assert [one.outcome for one in ended] == [Outcome.ENGINE_CRASH] * 2
    assert executor.begun == 2 * TRIES
    assert f"was begun {TRIES} times, and each time lost (NODE_FAIL)" in ended[0].what
    assert list((tmp_path / QUEUES).glob("*/*.out"))  # the logs are kept


def test_an_old_run_is_not_taken_for_a_new_one(tmp_path: Path) -> None:
    run(InlineExecutor(), tmp_path)
    ended = run(Losing(100), tmp_path, reuse="none")
    assert [one.outcome for one in ended] == [Outcome.ENGINE_CRASH] * 2
    assert len(catalogue.complete_runs(tmp_path)) == 2  # untouched


def test_a_failure_is_typed_and_its_logs_stay(tmp_path: Path) -> None:
    ended = run(InlineExecutor(), tmp_path, "panic")
    assert [one.outcome for one in ended] == [Outcome.GUEST_PANIC] * 2
    assert "Attempted to kill init" in ended[0].what and ended[0].cure
    (queue,) = (tmp_path / QUEUES).iterdir()
    assert sorted(path.name for path in queue.glob("*.out")) == ["0.1.out", "1.1.out"]


@pytest.mark.parametrize(
    ("said", "seen", "outcome"),
    [
        ({"outcome": "disk-full", "what": "No room.", "cure": "Free some."}, Seen(State.ENDED, 18), Outcome.DISK_FULL),
        ({}, Seen(State.ENDED, Outcome.DISK_FULL.exit_status), Outcome.DISK_FULL),  # no room for a log
        ({}, Seen(State.ENDED, 1), Outcome.ENGINE_CRASH),
        ({"outcome": "interrupted"}, Seen(State.ENDED, 130), None),
        ({}, Seen(State.ENDED, -9), None),
        ({}, Seen(State.ENDED, None, "NODE_FAIL"), None),
        ({"outcome": "ok"}, Seen(State.ENDED, 0), None),  # it is not to be seen from here
    ],
)
def test_judging(said: Mapping[str, str], seen: Seen, outcome: Outcome | None, tmp_path: Path) -> None:
    queue = Queue.make(tmp_path, [point(1)], "same")
    task = queue.tasks[0]
    task.output.write_text(json.dumps(said) if said else "")
    ended = queue.judge(task, seen, 0.0)
    assert (ended.outcome if ended else None) is outcome


def test_what_cannot_be_ended_sees_that_it_is_cancelled(tmp_path: Path) -> None:
    queue = Queue.make(tmp_path, [point(1)], "same")
    queue.cancelled.touch()
    executor = InlineExecutor()
    executor.submit([queue.tasks[0]], fake("ok")(queue))
    assert executor.poll() == {0: Seen(State.ENDED, Outcome.INTERRUPTED.exit_status)}
    assert json.loads(queue.tasks[0].output.read_text())["outcome"] == "interrupted"
    assert catalogue.complete_runs(tmp_path) == []


def test_one_point_after_the_other_stops_before_the_next(tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    # The first point is this process's end: what comes after it must not begin.
    words = ["sh", "-c", f"echo >> {begun}; kill -INT {os.getpid()}"]
    with pytest.raises(Failure, match="interrupted"):
        drive.run(InlineExecutor(), [point(1), point(2)], tmp_path, "same", lambda _: None, lambda queue: lambda task: words)
    assert begun.read_text() == "\n"


def test_a_queue_is_held_before_its_points_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[list[Path]] = []

    def write(point: Point, path: Path) -> None:
        left.append([one.path for one in leftovers.find(tmp_path)])

    monkeypatch.setattr("harness.spec.point.write", write)
    run(InlineExecutor(), tmp_path)
    assert left == [[], []]
    assert not (tmp_path / QUEUES).exists()


def test_registry() -> None:
    for name in registry.EXECUTORS:
        assert registry.make(Wanted(name), 2)().poll_seconds >= 0
    for wrong in (Wanted("cloud"), Wanted("local", partition="p"), Wanted("inline", submit=["--time=60"])):
        with pytest.raises(Failure, match="bad-input"):
            registry.make(wrong, 2)


class Cluster:
    """Programs named after those of Slurm that say what a test wants."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
        self.says("scontrol", "MaxArraySize            = 4")
        self.says("scancel", "")
        self.says("sbatch", "7;cluster")

    def says(self, name: str, text: str, status: int = 0, errors: str = "") -> None:
        file = self.folder / name
        lines = f'#!{sys.executable}\nimport sys\nopen({str(file)!r} + ".asked", "a").write(" ".join(sys.argv[1:]) + "\\n")\n'
        file.write_text(f"{lines}print({text!r})\nsys.stderr.write({errors!r})\nsys.exit({status})\n")
        file.chmod(0o755)

    def asked(self, name: str) -> list[str]:
        return (self.folder / f"{name}.asked").read_text().splitlines()


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cluster:
    folder = tmp_path / "bin"
    folder.mkdir()
    return Cluster(folder, monkeypatch)


def test_slurm_gets_arrays_of_the_size_it_takes(cluster: Cluster, tmp_path: Path) -> None:
    queue = Queue.make(tmp_path, [point(1, {"trial": str(n)}) for n in range(1, 6)], "same")
    slurm.SlurmExecutor(["--partition=p"], 2).submit(list(queue.tasks.values()), queue.command)
    arrays = [word for line in cluster.asked("sbatch") for word in line.split() if word.startswith("--array")]
    assert arrays == ["--array=0-2%2", "--array=0-1%2"]
    plans = sorted(queue.folder.glob("*.plan"))
    assert [len(plan.read_text().splitlines()) for plan in plans] == [3, 2]
    assert all("--partition=p" in line for line in cluster.asked("sbatch"))


@pytest.mark.parametrize(
    ("line", "seen"),
    [
        ("7 0 PENDING 0", Seen(State.WAITING)),
        ("7 0 RUNNING 0 node1", Seen(State.RUNNING)),
        ("7 0 COMPLETING 256", Seen(State.RUNNING)),
        ("7 0 COMPLETED 0", Seen(State.ENDED, 0)),
        ("7 0 FAILED 4608", Seen(State.ENDED, 18)),
        ("7 0 FAILED 9", Seen(State.ENDED, -9)),
        ("7 0 NODE_FAIL 0", Seen(State.ENDED, None, "NODE_FAIL")),
        ("7 0 TIMEOUT 0", Seen(State.ENDED, None, "TIMEOUT")),
        ("", Seen(State.ENDED, None, "Slurm does not know its job any more")),
    ],
)
def test_states_of_slurm(line: str, seen: Seen, cluster: Cluster, tmp_path: Path) -> None:
    queue = Queue.make(tmp_path, [point(1)], "same")
    executor = slurm.SlurmExecutor()
    executor.submit(list(queue.tasks.values()), queue.command)
    cluster.says("squeue", line)
    assert executor.poll() == {0: seen}
    assert executor.poll() == ({} if seen.state is State.ENDED else {0: seen})


def test_a_slurm_that_refuses(cluster: Cluster, tmp_path: Path) -> None:
    cluster.says("sbatch", "", 1, "sbatch: error: invalid partition specified: q\nsbatch: error: Batch job submission failed\n")
    with pytest.raises(Failure, match=r"Slurm refuses the points: invalid partition specified: q\.") as caught:
        run(slurm.SlurmExecutor(["--partition=q"]), tmp_path)
    assert caught.value.outcome is Outcome.BAD_INPUT
    assert not (tmp_path / QUEUES).exists()


def test_a_slurm_that_does_not_answer(cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    queue = Queue.make(tmp_path, [point(1)], "same")
    executor = slurm.SlurmExecutor()
    executor.submit(list(queue.tasks.values()), queue.command)
    cluster.says("squeue", "", 1, "slurm_load_jobs error: Unable to contact slurm controller (connect failure)\n")
    assert executor.poll() == {}
    monkeypatch.setattr(slurm, "_SILENT_SECONDS", 0.0)
    with pytest.raises(Failure, match=r"has not answered for 0 s .*Unable to contact"):
        executor.poll()


def test_no_slurm_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Failure, match="There is no scontrol on this host"):
        run(slurm.SlurmExecutor(), tmp_path)
