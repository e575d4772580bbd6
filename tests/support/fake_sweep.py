# SPDX-License-Identifier: BSD-3-Clause
"""`fake_sweep.py MODE SWEEP FOLDER`: the local executor, as `run.py sweep` starts it, with guests that behave as MODE says."""

import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from fake_runs import command

from common.outcome import Failure
from harness.cli import main as command_line
from harness.run.executors import drive
from harness.run.executors.base import Command
from harness.run.executors.local import LocalExecutor
from harness.run.executors.queue import Queue
from harness.spec import point as points
from harness.spec import sweep


def main(mode: str, text: str, root: str) -> int:
    signal.signal(signal.SIGTERM, command_line._on_terminate)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in what was started in the background

    def start(queue: Queue) -> Command:
        return lambda task: [*command(mode), *queue.command(task)[3:]]

    wanted = [points.resolve(one) for one in sweep.parse(text).settings]
    try:
        drive.run(LocalExecutor(2), wanted, Path(root), "same", lambda _: None, start)
    except Failure as failure:
        return failure.outcome.exit_status
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
