# SPDX-License-Identifier: BSD-3-Clause
"""Compiles guest programs for this host and runs them as the guest's init would, to find broken ones without a boot."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.build import guest_programs
from harness.run import console
from harness.spec import workload
from harness.spec.machine_schema import schema


@dataclass(frozen=True)
class Ending:
    """How a program ended: exit status, the events it reported, what it printed on standard error."""

    status: int
    events: Sequence[Mapping[str, Any]]
    errors: str

    @property
    def result(self) -> Mapping[str, Any]:
        results = [event for event in self.events if event["event"] == "result"]
        assert len(results) == 1, self.errors
        return results[0]


def compile_program(source: Path, program: Path) -> Path:
    """Compile one .c file, or all of a folder, as the image does. The compiler's complaints go to standard error."""
    subprocess.run(guest_programs.compile_command(source, program), check=True)
    return program


def host_cores(wanted: int) -> list[int]:
    """Up to ``wanted`` CPUs that this process may use."""
    return sorted(os.sched_getaffinity(0))[:wanted]


_LACKING = dict.fromkeys(schema().parts, "this host")
"""Of what machines have: jobs of a host have their clients there."""


def run_job(command: Sequence[str | Path], text: str, cores: Sequence[int], folder: Path, seconds: float = 60) -> Ending:
    """Run ``command`` in ``folder`` with the environment of the job ``text``; kills it after ``seconds``."""
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C"} | workload.parse(text, _LACKING).environment(cores)
    done = subprocess.run(
        list(map(str, command)), check=False, env=environment, cwd=folder, capture_output=True, text=True, timeout=seconds
    )
    return Ending(done.returncode, _events(done.stdout), done.stderr)


def _events(output: str) -> list[Mapping[str, Any]]:
    """The events among the lines; a damaged one raises, as it fails a run."""
    events = (console.parse_line(line) for line in output.splitlines())
    return [event for event in events if event is not None]
