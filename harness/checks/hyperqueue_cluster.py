# SPDX-License-Identifier: BSD-3-Clause
"""A HyperQueue server and workers on this host, each a process of its own, for checks of the executor.

The package has no program `hq`, and its LocalCluster keeps server and workers in one process, where none can be killed alone. A
worker finds its server by the access file in a folder, so here each worker has a LocalCluster whose file is replaced by the
server's before the worker starts, and whose own server is then stopped. LocalCluster asks nobody who he is: this is for a test,
not for a network.

As a program: `hyperqueue_cluster.py server FOLDER` and `hyperqueue_cluster.py worker FOLDER OWN`, until they are killed.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from common.outcome import bad_input
from common.paths import REPOSITORY
from harness.checks.process_tree import below, kill
from harness.run.executors.hyperqueue_client import ACCESS

_READY_SECONDS = 60.0
_READY = "ready"
"""A file in a process's own folder: it has done what it was started for."""
NODE = "MOSBENCH_TEST_NODE"
"""Variable in the environment of all that runs on a worker: its name."""


@dataclass
class Cluster:
    """A running cluster. ``access`` is the folder that a client is given."""

    folder: Path
    nodes: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    _processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def access(self) -> Path:
        return self.folder / "access"

    def kill_node(self, name: str) -> None:
        """A host disappears: its worker, and all that ran on it, by kill -9; the server finds out by itself."""
        worker = self._processes.pop(name)
        os.kill(worker.pid, signal.SIGSTOP)  # it is to see nobody's end, and nobody that of what it has started
        for pid in (*reversed(below(worker.pid)), worker.pid):
            kill(pid)
        worker.wait()

    def start_node(self, name: str) -> None:
        """Start a worker with one processor."""
        self._start(name, "worker", self.access, self.folder / name)

    def stop_server(self) -> None:
        """The server disappears."""
        server = self._processes.pop("server")
        server.kill()
        server.wait()

    def _start(self, name: str, *arguments: str | Path) -> None:
        own = self.folder / name
        own.mkdir(exist_ok=True)
        with open(self.folder / f"{name}.log", "ab") as log:
            self._processes[name] = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", sys.executable, "-m", "harness.checks.hyperqueue_cluster", *arguments],
                cwd=REPOSITORY,
                env={**os.environ, NODE: name},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        end = time.monotonic() + _READY_SECONDS
        while not (own / _READY).exists():
            if self._processes[name].poll() is not None or time.monotonic() > end:
                raise bad_input(f"The {name} of the test cluster did not start.", f"Look at {self.folder / name}.log.")
            time.sleep(0.1)

    def stop(self) -> None:
        """End everything."""
        for name in list(self._processes):
            if name in self.nodes:
                self.kill_node(name)
            else:
                self.stop_server()


@contextmanager
def cluster(folder: Path, count: int = 2) -> Iterator[Cluster]:
    """A server and ``count`` workers, each with one processor.

    Raises:
        Failure: bad-input, when they do not come up.
    """
    made = Cluster(folder, tuple(f"worker{number + 1}" for number in range(count)))
    folder.mkdir(parents=True)
    try:
        made._start("server", "server", folder / "server")
        access = json.loads((folder / "server" / ACCESS).read_bytes())
        for role in ("client", "worker"):
            access[role]["host"] = "127.0.0.1"
        file = made.access / ACCESS
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps(access), encoding="utf-8")
        for node in made.nodes:
            made.start_node(node)
        yield made
    finally:
        made.stop()


def main() -> None:
    from hyperqueue.cluster import LocalCluster, WorkerConfig

    role, *folders = sys.argv[1:]
    own = Path(folders[-1])
    here = LocalCluster(str(own))
    if role == "worker":
        file = own / ACCESS
        file.unlink()
        file.write_bytes((Path(folders[0]) / ACCESS).read_bytes())
        here.start_worker(WorkerConfig(cores=1))
        here.stop()  # ends the server that this process has, and not the worker
    (own / _READY).touch()
    signal.pause()


if __name__ == "__main__":
    main()
