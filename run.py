#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Entry: makes the pinned Python environment in the user's cache, once per requirements.txt, then runs `harness.cli`."""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - an older Python gets as far as here
    sys.exit(f"mosbench: Python 3.11 or later is needed, and this is {sys.version.split()[0]}; start run.py with a newer one.")

import fcntl
import hashlib
import importlib.util
import os
import shutil
from pathlib import Path

from common.outcome import Failure, bad_input
from common.paths import REPOSITORY, cache_root
from common.progress import run_logged
from harness.build.host_packages import require

REQUIREMENTS = REPOSITORY / "requirements.txt"


def environment() -> Path:
    """The Python of the pinned environment, which is made first if it is not there.

    An environment has its own path in its scripts, so it is made in its final place and counts once a mark is in it.
    The Python of a virtual environment, this one among them, counts as the Python that it was made with.
    """
    key = hashlib.sha256(REQUIREMENTS.read_bytes() + sys.version.encode() + sys.base_prefix.encode()).hexdigest()[:16]
    folder = cache_root() / "python" / key
    python, mark = folder / "bin" / "python", folder / "complete"
    if mark.is_file():
        return python
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(folder.with_name(f".lock-{key}"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not mark.is_file():
            shutil.rmtree(folder, ignore_errors=True)
            _make(folder, python)
            mark.touch()
    return python


def _make(folder: Path, python: Path) -> None:
    if importlib.util.find_spec("ensurepip") is None:
        require("python3-venv")
        if importlib.util.find_spec("ensurepip") is None:
            raise bad_input(f"{sys.executable} has no ensurepip.", "Start run.py with Debian's python3.")
    log = folder.with_suffix(".log")
    options = ["--no-input", "--no-compile", "--require-hashes"]
    install: list[str | Path] = [python, "-m", "pip", "install", *options, "-r", REQUIREMENTS]
    run_logged("Making the Python environment", [sys.executable, "-m", "venv", folder], log)
    run_logged("Installing the Python packages", install, log, cure=f"Check that pip reaches its package index; see {log}.")


def main() -> None:
    try:
        python = environment()
    except Failure as failure:
        sys.stderr.write(f"mosbench: {failure}\n")
        sys.exit(failure.outcome.exit_status)
    except KeyboardInterrupt:
        sys.exit(130)
    path = os.pathsep.join([str(REPOSITORY), *filter(None, [os.environ.get("PYTHONPATH")])])
    os.execve(python, [str(python), "-m", "harness.cli", *sys.argv[1:]], {**os.environ, "PYTHONPATH": path})


if __name__ == "__main__":
    main()
