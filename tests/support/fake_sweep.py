# SPDX-License-Identifier: BSD-3-Clause
"""`fake_sweep.py MODE SWEEP FOLDER`: the local executor, as `run.py sweep` starts it, with guests that behave as MODE says."""

import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from fake_runs import command

from common.outcome import Failure
from harness.cli import main as command_line
from harness.run.executors.local import LocalExecutor
from harness.spec import point as points
from harness.spec import sweep


def main(mode: str, text: str, root: str) -> int:
    signal.signal(signal.SIGTERM, command_line._on_terminate)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in what was started in the background

    def start(file: Path, root: Path, reuse: str) -> list[str]:
        return [*command(mode), "run", str(file), "--output", str(root), "--reuse", reuse, "--json"]

    wanted = [points.resolve(one) for one in sweep.parse(text).settings]
    try:
        LocalExecutor(2, start).run(wanted, Path(root), "same", lambda _: None)
    except Failure as failure:
        return failure.outcome.exit_status
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
