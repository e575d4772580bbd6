# SPDX-License-Identifier: BSD-3-Clause
"""ctrl-C, kill -9, a full disk, with real processes: nothing complete is lost, nothing half written counts, no child is left."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fake_runs import HERE, command, gone, point

from analysis.report.beside import CATALOGUE
from common.outcome import Outcome
from harness.run import catalogue
from harness.run.executors import drive
from harness.run.executors.base import Command, Finished
from harness.run.executors.local import LocalExecutor
from harness.run.executors.queue import QUEUES, Queue

SWEEP = "machine=small-2x2 * workload=micro:stat * cores=1+2"


def text(cores: int) -> str:
    return f"machine=small-2x2 * workload=micro:stat * cores={cores}"


def start(mode: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen([*command(mode), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def guest_pids(root: Path, count: int) -> list[int]:
    """Process numbers of the guests that run in ``root``, once there are ``count``."""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        found = [path.read_text() for path in root.glob(".*.part/guest.pid")]
        if len(found) == count and all(found):
            return list(map(int, found))
        time.sleep(0.02)
    raise AssertionError(f"no {count} guests in {root}")


def folders(root: Path) -> list[str]:
    return sorted(path.name for path in root.iterdir() if path.is_dir() and path.name not in (CATALOGUE, QUEUES))


def test_interrupting_one_run(tmp_path: Path) -> None:
    assert start("ok", "run", text(1), "--output", str(tmp_path)).wait() == 0
    process = start("hang", "run", text(2), "--output", str(tmp_path))
    (guest,) = guest_pids(tmp_path, 1)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    assert process.returncode == Outcome.INTERRUPTED.exit_status == 130
    assert "interrupted" in errors
    assert gone(guest)
    assert folders(tmp_path) == [point(1).id]
    assert len(catalogue.complete_runs(tmp_path)) == 1


def test_killing_one_run_leaves_no_guest_and_nothing_that_looks_complete(tmp_path: Path) -> None:
    process = start("hang", "run", text(2), "--output", str(tmp_path))
    (guest,) = guest_pids(tmp_path, 1)
    process.kill()
    process.communicate(timeout=20)
    assert gone(guest)
    assert catalogue.complete_runs(tmp_path) == []
    again = start("ok", "run", text(2), "--output", str(tmp_path))
    output, _ = again.communicate(timeout=60)
    assert again.returncode == 0
    assert f"{point(2).id}.broken-1" in output
    assert folders(tmp_path) == [point(2).id, f"{point(2).id}.broken-1"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_ending_a_sweep_ends_all_of_it(number: signal.Signals, tmp_path: Path) -> None:
    worker = subprocess.Popen(
        [sys.executable, str(HERE / "fake_sweep.py"), "hang", SWEEP, str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    guests = guest_pids(tmp_path, 2)
    worker.send_signal(number)
    worker.communicate(timeout=30)
    assert worker.returncode == (-9 if number is signal.SIGKILL else 130)
    assert all(gone(guest, 20) for guest in guests)
    assert catalogue.complete_runs(tmp_path) == []


def test_executor_returns_good_and_bad_points(tmp_path: Path) -> None:
    def choose(queue: Queue) -> Command:
        return lambda task: [*command("ok" if task.point.cores == 1 else "panic"), *queue.command(task)[3:]]

    heard: list[Finished] = []
    finished = drive.run(LocalExecutor(2), [point(1), point(2)], tmp_path, "same", heard.append, choose)
    assert sorted(heard, key=lambda f: f.point.cores) == sorted(finished, key=lambda f: f.point.cores)
    outcomes = {ended.point.cores: ended for ended in finished}
    assert outcomes[1].outcome is Outcome.OK
    assert outcomes[1].folder == tmp_path / point(1).id
    assert outcomes[2].outcome is Outcome.GUEST_PANIC
    assert outcomes[2].folder is None
    assert "Attempted to kill init" in outcomes[2].what


def test_executor_survives_a_worker_that_says_nothing(tmp_path: Path) -> None:
    def die(queue: Queue) -> Command:
        return lambda task: [sys.executable, "-c", "import sys; sys.exit('no such module')"]

    (ended,) = drive.run(LocalExecutor(1), [point(1)], tmp_path, "same", lambda _: None, die)
    assert ended.outcome is Outcome.ENGINE_CRASH
    assert "no such module" in ended.what


def test_two_processes_run_the_same_point_once(tmp_path: Path) -> None:
    both = [start("ok", "run", text(1), "--output", str(tmp_path)) for _ in range(2)]
    said = sorted(process.communicate(timeout=60)[0].split(":")[0] for process in both)
    assert [process.returncode for process in both] == [0, 0]
    assert said == ["Complete", "There already"]
    assert folders(tmp_path) == [point(1).id]


def test_a_full_disk(tmp_path: Path) -> None:
    """The guest fills a file system of 24 MiB, in a mount namespace of its own."""
    inside = f'mount -t tmpfs -o size=24m none {tmp_path} && exec "$@"'
    ways = [["unshare", "--user", "--map-root-user", "--mount"], ["unshare", "--mount"]]  # the second is for root in a chroot
    probe = ["sh", "-c", f"mount -t tmpfs none {tmp_path}"]
    unshare = next((way for way in ways if not subprocess.run([*way, *probe], capture_output=True, check=False).returncode), None)
    if unshare is None:
        pytest.skip("this host lets nobody mount a file system in a namespace")
    after = f'"$@"; status=$?; ls -A {tmp_path}; exit $status'
    done = subprocess.run(
        [
            *unshare,
            "sh",
            "-c",
            inside,
            "sh",
            "sh",
            "-c",
            after,
            "sh",
            *command("fill_disk"),
            "run",
            text(1),
            "--output",
            str(tmp_path),
        ],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "TMPDIR": "/tmp"},
        timeout=60,
    )
    assert done.returncode == Outcome.DISK_FULL.exit_status, done.stderr
    assert "disk-full" in done.stderr
    assert done.stdout.split() == []
