# SPDX-License-Identifier: BSD-3-Clause
"""What is asked of a HyperQueue server, as a program: a JSON object on its input, one on its output.

A process of its own, because the package waits for an answer in a way that no signal ends: a server whose host has gone would
hold the whole command, ctrl-C included. This one is killed.

    {"folder": "", "submit": [{"arguments": ["true"], "cwd": "/", "output": "/tmp/1.out", "errors": "/tmp/1.err", "env": {}}]}
    {"folder": "", "look": [1, 2], "forget": [3]}

``folder`` is the server's (empty: HyperQueue's own default). The answer is either an ``error``, in words, or it has the
``server``'s identity and either the numbers of the ``jobs`` submitted, or by number those that are ``known`` with whether they
have ended, and by number what was wrong with those that ``failed``. A job has one task.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hyperqueue.client import Client
from hyperqueue.job import Job

ACCESS = Path("hq-current", "access.json")
"""Where below its folder a server says how it is reached."""
_DEFAULT = Path.home() / ".hq-server"


class _Answered(Exception):
    """Ends the package's wait for the end of jobs as soon as it knows where they are."""


def main() -> None:
    try:
        answer = _answer(json.load(sys.stdin))
    except Exception as error:  # the package raises nothing more special than this
        answer = {"error": " ".join(str(error).partition("\n\n")[0].split()) or repr(error)}
    json.dump(answer, sys.stdout)


def _answer(asked: Mapping[str, Any]) -> dict[str, Any]:
    folder = Path(asked["folder"] or _DEFAULT).expanduser()
    client = Client(str(folder))
    answer: dict[str, Any] = {"server": json.loads((folder / ACCESS).read_bytes()).get("server_uid", "")}
    if "submit" in asked:
        answer["jobs"] = [_submit(client, one) for one in asked["submit"]]
    for number in asked.get("forget", ()):
        _forget(client, number)
    if asked.get("look"):
        known = _known(client, asked["look"])
        ended = [number for number, one in known.items() if one["completed"]]
        failures = client.connection.get_failed_tasks(ended) if ended else {}
        answer["known"] = {number: bool(one["completed"]) for number, one in known.items()}
        answer["failed"] = {number: next(iter(tasks.values())).error for number, tasks in failures.items() if tasks}
    return answer


def _submit(client: Client, task: Mapping[str, Any]) -> int:
    """A job that HyperQueue begins once: whether what a lost worker ran is begun again is not HyperQueue's to say."""
    job = Job(name="mosbench")
    job.program(task["arguments"], cwd=task["cwd"], stdout=task["output"], stderr=task["errors"], env=task["env"], crash_limit=1)
    return int(client.submit(job).id)


def _forget(client: Client, number: int) -> None:
    try:
        client.forget(number)
    except Exception:  # the server was started again, and does not know it
        pass


def _known(client: Client, numbers: Sequence[int]) -> dict[int, dict[str, Any]]:
    """What the server says of jobs, without those that it does not know."""
    said: dict[int, dict[str, Any]] = {}

    def hear(jobs: Mapping[int, dict[str, Any]]) -> None:
        said.update(jobs)
        raise _Answered

    try:
        client.connection.wait_for_jobs(numbers, hear)
    except _Answered:
        pass
    return said


if __name__ == "__main__":
    main()
