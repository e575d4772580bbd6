# SPDX-License-Identifier: BSD-3-Clause
"""A Slurm cluster of several nodes on this host, in a folder of its own, for checks of the executor: munged, slurmctld, slurmd.

Debian's packages, another configuration, other ports, another socket: a cluster that the host belongs to is left alone.
"""

import os
import secrets
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from common.outcome import bad_input
from harness.checks.process_tree import below, kill

PACKAGES = ("slurm-wlm", "munge")
_PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue")
_PATH = f"/usr/sbin:/sbin:{os.environ.get('PATH', '/usr/bin:/bin')}"
_READY_SECONDS = 60.0


def why_not() -> str:
    """Why there can be no such cluster on this host; empty if there can."""
    missing = [name for name in _PROGRAMS if shutil.which(name, path=_PATH) is None]
    if missing:
        return f"there is no {missing[0]} (Debian's packages {' and '.join(PACKAGES)})"
    return "" if os.geteuid() == 0 else "slurmd and slurmctld have to be started by root"


@dataclass
class Cluster:
    """A running cluster; ``environment`` is for the commands of Slurm."""

    folder: Path
    nodes: tuple[str, ...]
    environment: Mapping[str, str]
    _daemons: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def start_node(self, name: str) -> None:
        """Start a node's slurmd."""
        self._start(name, ["slurmd", "-D", "-N", name, "-f", str(self.folder / "slurm.conf")])

    def kill_node(self, name: str) -> None:
        """A node disappears: its slurmd, and all that ran on it, by kill -9; the controller finds out by itself."""
        daemon = self._daemons.pop(name)
        for number in (*below(daemon.pid), daemon.pid):
            kill(number)
        daemon.wait()
        while steps := _steps(name, self.folder):  # now nothing begins any more, but a step may have been beginning one
            for pid in steps:
                for number in (*below(pid), pid):
                    kill(number)
            time.sleep(0.05)

    def _start(self, name: str, command: list[str]) -> None:
        with open(self.folder / f"{name}.log", "ab") as log:
            self._daemons[name] = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", *command],
                env={**os.environ, **self.environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def stop(self) -> None:
        """End everything."""
        for name in [*self.nodes, "slurmctld", "munged"]:
            if name in self.nodes and name in self._daemons:
                self.kill_node(name)
            elif daemon := self._daemons.pop(name, None):
                for number in (*below(daemon.pid), daemon.pid):
                    kill(number)
                daemon.wait()


@contextmanager
def cluster(folder: Path, count: int = 2) -> Iterator[Cluster]:
    """A cluster of ``count`` nodes, each with one processor, with the partition ``test``.

    Raises:
        Failure: bad-input, when it does not come up.
    """
    nodes = tuple(f"node{number + 1}" for number in range(count))
    environment = {"SLURM_CONF": str(folder / "slurm.conf"), "PATH": _PATH}
    made = Cluster(folder, nodes, environment)
    for name in ("state", "munge"):
        (folder / name).mkdir(parents=True, mode=0o755)
    sockets = Path(tempfile.mkdtemp(prefix="slurm-", dir="/tmp"))
    for node in nodes:
        (sockets / node).mkdir()
    _configure(folder, sockets, nodes)
    try:
        munge = folder / "munge"
        made._start(
            "munged",
            [
                *("munged", "--foreground", "--force", f"--key-file={munge / 'key'}", f"--socket={sockets / 'munge'}"),
                *(f"--pid-file={munge / 'pid'}", f"--log-file={munge / 'log'}", f"--seed-file={munge / 'seed'}"),
            ],
        )
        _wait(made, lambda: (sockets / "munge").exists(), "munged")
        made._start("slurmctld", ["slurmctld", "-D", "-f", str(folder / "slurm.conf")])
        for node in nodes:
            made.start_node(node)
        _wait(made, lambda: _idle(made) == count, "slurmctld")
        yield made
    finally:
        made.stop()
        shutil.rmtree(sockets, ignore_errors=True)


def _configure(folder: Path, sockets: Path, nodes: tuple[str, ...]) -> None:
    """``sockets`` has a short path: a socket's is at most 107 bytes, and slurmd fails each job where it is more."""
    (folder / "munge" / "key").write_bytes(secrets.token_bytes(128))
    (folder / "munge" / "key").chmod(0o400)
    host = socket.gethostname().partition(".")[0]
    ports = _free_ports(1 + len(nodes))
    lines = [
        "ClusterName=mosbench",
        f"SlurmctldHost={host}(127.0.0.1)",
        f"SlurmctldPort={ports[0]}",
        "SlurmUser=root",
        "SlurmdUser=root",
        "AuthType=auth/munge",
        "CredType=cred/munge",
        f"AuthInfo=socket={sockets / 'munge'}",
        "ProctrackType=proctrack/pgid",
        "TaskPlugin=task/none",
        "SwitchType=switch/none",
        "MpiDefault=none",
        "SelectType=select/cons_tres",
        "SelectTypeParameters=CR_Core",
        "SlurmdParameters=config_overrides",
        "AccountingStorageType=accounting_storage/none",
        "JobAcctGatherType=jobacct_gather/none",
        f"StateSaveLocation={folder / 'state'}",
        f"SlurmdSpoolDir={sockets}/%n",
        f"SlurmctldPidFile={folder}/slurmctld.pid",
        f"SlurmdPidFile={folder}/slurmd-%n.pid",
        f"SlurmctldLogFile={folder}/slurmctld.log",
        f"SlurmdLogFile={folder}/slurmd-%n.log",
        "ReturnToService=2",
        "SlurmdTimeout=20",
        "MessageTimeout=60",  # on a busy host an answer, and the start of a job, takes its time
        "BatchStartTimeout=60",
        "KillWait=10",
        "InactiveLimit=0",
        "MinJobAge=300",
        "MaxArraySize=1001",
        "SchedulerType=sched/builtin",
        "SchedulerParameters=sched_min_interval=100000,sched_interval=1",
        *(
            f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=1"
            for node, port in zip(nodes, ports[1:], strict=True)
        ),
        f"PartitionName=test Nodes={','.join(nodes)} Default=YES State=UP MaxTime=INFINITE",
    ]
    (folder / "slurm.conf").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n", encoding="utf-8")


def _free_ports(count: int) -> list[int]:
    """Ports below those that the host gives to whoever asks for any: nobody gets one of them before its daemon does."""
    found: list[int] = []
    while len(found) < count:
        port = 10_000 + secrets.randbelow(20_000)
        with socket.socket() as one, suppress(OSError):
            one.bind(("127.0.0.1", port))
            found += [] if port in found else [port]
    return found


def _idle(made: Cluster) -> int:
    """How many nodes wait for work."""
    command = ["sinfo", "--noheader", "--Node", "--format=%N %t"]
    done = subprocess.run(command, env={**os.environ, **made.environment}, capture_output=True, text=True, check=False)
    return sum(line.endswith(" idle") for line in done.stdout.splitlines())


def _wait(made: Cluster, ready: Callable[[], bool], name: str) -> None:
    end = time.monotonic() + _READY_SECONDS
    while not ready():
        dead = [each for each, daemon in made._daemons.items() if daemon.poll() is not None]
        if dead or time.monotonic() > end:
            log = made.folder / f"{dead[0] if dead else name}.log"
            raise bad_input(f"{dead[0] if dead else name} of the test cluster did not start.", f"Look at {log}.")
        time.sleep(0.2)


def _steps(node: str, folder: Path) -> list[int]:
    """What runs on a node: slurmstepd, which belongs to no slurmd, and the processes of its jobs."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                environment = (entry / "environ").read_bytes().split(b"\0")
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                above = Path(f"/proc/{parent}/comm").read_text().strip()
            except (OSError, ValueError, IndexError):
                continue
            if f"SLURMD_NODENAME={node}".encode() in environment and f"SLURM_CONF={folder}/slurm.conf".encode() in environment:
                found += [parent] if above == "slurmstepd" else []
                found.append(int(entry.name))
    return found
