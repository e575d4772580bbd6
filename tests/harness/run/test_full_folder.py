# SPDX-License-Identifier: BSD-3-Clause
"""The folder of runs is full, or nearly: a small tmpfs. One sentence, a typed outcome, and what was complete stays so."""

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from unittest import mock

import pytest
from fake_runs import command, point

from common.outcome import Failure, Outcome
from harness.checks import hyperqueue_cluster, slurm_cluster
from harness.run import catalogue, run_directory
from harness.run.executors import drive
from harness.run.executors.base import Command, Executor
from harness.run.executors.hyperqueue import HyperQueueExecutor
from harness.run.executors.inline import InlineExecutor
from harness.run.executors.local import LocalExecutor
from harness.run.executors.queue import Queue
from harness.run.executors.slurm import SlurmExecutor

POINTS = [point(2), point(3)]


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    """A folder of runs on a file system of 32 MiB, with one complete run."""
    folder = tmp_path / "runs"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=32m", "none", folder], capture_output=True, text=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.strip()}")
    try:
        (ended,) = drive.run(InlineExecutor(), [point(1)], folder, "same", lambda _: None, fake)
        assert ended.outcome is Outcome.OK
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def fake(queue: Queue) -> Command:
    return lambda task: [*command("ok"), *queue.command(task)[3:]]


def fill(folder: Path, left: int) -> None:
    """Leave so many bytes."""
    ballast = folder / "ballast"
    ballast.unlink(missing_ok=True)
    room = os.statvfs(folder)
    ballast.write_bytes(bytes(room.f_bavail * room.f_frsize - left))


def _local(stack: ExitStack, folder: Path) -> Executor:
    return LocalExecutor(2)


def _slurm(stack: ExitStack, folder: Path) -> Executor:
    if why := slurm_cluster.why_not():
        pytest.skip(why)
    made = stack.enter_context(slurm_cluster.cluster(folder / "cluster"))
    stack.enter_context(mock.patch.dict(os.environ, made.environment))
    return SlurmExecutor(["--partition=test"])


def _hyperqueue(stack: ExitStack, folder: Path) -> Executor:
    return HyperQueueExecutor(str(stack.enter_context(hyperqueue_cluster.cluster(folder / "cluster")).access))


@pytest.mark.parametrize("make", [_local, _slurm, _hyperqueue])
def test_a_folder_that_is_full(make: Callable[[ExitStack, Path], Executor], root: Path, tmp_path: Path) -> None:
    there = catalogue.complete_runs(root)
    with ExitStack() as stack:
        executor = make(stack, tmp_path)
        for left in (0, 24 << 10, 8 << 20):  # no room for a queue, for what a command writes, for a run to be safe
            fill(root, left)
            try:
                ended = drive.run(executor, POINTS, root, "same", lambda _: None, fake)
            except Failure as failure:
                assert failure.outcome is Outcome.DISK_FULL
                assert str(root) in failure.what
                assert left < 8 << 20
            else:
                assert left > 0
                assert [one.outcome for one in ended] == [Outcome.DISK_FULL] * len(POINTS), [one.what for one in ended]
            assert catalogue.complete_runs(root) == there
            assert run_directory.fault(there[0]) is None
        (root / "ballast").unlink()  # room was made, and the same command goes on
        ended = drive.run(executor, POINTS, root, "same", lambda _: None, fake)
    assert [one.outcome for one in ended] == [Outcome.OK] * len(POINTS)
    assert len(catalogue.complete_runs(root)) == 1 + len(POINTS)
