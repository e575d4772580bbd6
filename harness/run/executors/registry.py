# SPDX-License-Identifier: BSD-3-Clause
"""Which executors there are, and making one from the options of a command."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from common.outcome import bad_input
from harness.run.executors.base import Executor
from harness.run.executors.hyperqueue import HyperQueueExecutor
from harness.run.executors.inline import InlineExecutor
from harness.run.executors.local import LocalExecutor
from harness.run.executors.slurm import SlurmExecutor


@dataclass(frozen=True)
class Wanted:
    """What the user says of hosts."""

    name: str = "local"
    jobs: int = 0
    """Points at a time; 0: as many as the back end has room for, on this host one for each processor."""
    partition: str = ""
    submit: Sequence[str] = ()
    server_dir: str = ""


def _local(wanted: Wanted, processors: int) -> Executor:
    return LocalExecutor(wanted.jobs or processors)


def _inline(wanted: Wanted, processors: int) -> Executor:
    return InlineExecutor()


def _slurm(wanted: Wanted, processors: int) -> Executor:
    partition = [f"--partition={wanted.partition}"] if wanted.partition else []
    return SlurmExecutor([*partition, *wanted.submit], wanted.jobs)


def _hyperqueue(wanted: Wanted, processors: int) -> Executor:
    return HyperQueueExecutor(wanted.server_dir, wanted.jobs)


EXECUTORS: dict[str, tuple[Callable[[Wanted, int], Executor], str]] = {
    "local": (_local, "this host"),
    "inline": (_inline, "this host, one point after the other"),
    "slurm": (_slurm, "the nodes of a Slurm cluster"),
    "hyperqueue": (_hyperqueue, "the workers of a HyperQueue server"),
}
"""Name -> what makes one, and where its points run."""


def make(wanted: Wanted, processors: int) -> Callable[[], Executor]:
    """What makes an executor for each queue of a command; ``processors`` is how many points this host may run at a time.

    Raises:
        Failure: bad-input, for a name that is none, or an option that is not of this executor.
    """
    if wanted.name not in EXECUTORS:
        raise bad_input(f"There is no executor {wanted.name!r}.", f"Use one of {', '.join(EXECUTORS)}.")
    for key, of in (("partition", "slurm"), ("submit", "slurm"), ("server_dir", "hyperqueue")):
        if getattr(wanted, key) and wanted.name != of:
            raise bad_input(f"--{key.replace('_', '-')} is for --executor {of}.", f"Leave it out, or give --executor {of}.")
    return lambda: EXECUTORS[wanted.name][0](wanted, processors)
