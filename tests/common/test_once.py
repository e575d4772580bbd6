# SPDX-License-Identifier: BSD-3-Clause
"""Files are read once while many points are made, and only then."""

from pathlib import Path

from common.once import reading_once, remembered
from harness.run.executors.queue import Queue
from harness.spec import machine, sweep
from harness.spec import point as points


@remembered
def size(path: Path, *, more: int = 0) -> int:
    return path.stat().st_size + more


def test_only_while_it_is_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("1")
    with reading_once():
        assert (size(file), size(file, more=1)) == (1, 2)
        file.write_text("12")
        assert (size(file), size(file, more=1)) == (1, 2)
        with reading_once():
            assert size(file) == 1
        assert size(file) == 1
    assert size(file) == 2
    with reading_once():
        assert size(file) == 2


def test_a_machine_with_other_settings_is_another() -> None:
    with reading_once():
        assert machine.load("small-2x2", {"l2_kib": "64"}).l2_kib == 64
        assert machine.load("small-2x2").l2_kib != 64


def test_points_are_the_same(tmp_path: Path) -> None:
    settings = sweep.parse("machine=small-2x2 * workload=micro:stat * cores=1+2 * set.l2_kib=64+128").settings
    alone = [points.resolve(one) for one in settings]
    with reading_once():
        assert [points.resolve(one) for one in settings] == alone
    queue = Queue.make(tmp_path, alone, "same")
    assert {points.read(task.file).id for task in queue.tasks.values()} == {point.id for point in alone}
