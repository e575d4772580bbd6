# SPDX-License-Identifier: BSD-3-Clause
"""What runs and builds took on one host, kept with the project: a dry run goes by it where nothing like them was run yet.

`run.py runs costs` writes the file. A line is of all runs of the same engine, workload, parameters and cores, or of all builds of
one kind and name. Of builds there are the seconds, of runs those of a processor, which do not depend on what ran beside them.
Times are means. So are sizes of builds; those of runs are the largest. What this host has not run or built stays as the file
has it.
"""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import fmean, median

import msgspec

from common.outcome import Failure, Outcome, bad_input
from harness.run.catalogue import Row
from harness.spec import workload as workloads

FILE = Path(__file__).with_name("costs.csv")
_COLUMNS = ("kind", "name", "parameters", "cores", "seconds", "processor_seconds", "bytes", "peak_bytes")
_BUILDS = ("engines", "images", "kernels", "packages")
"""Kinds of builds that dry runs ask for. What they are made of counts with them."""


@dataclass(frozen=True)
class Known:
    """Of ``runs`` a row for each kind; of builds (kind, name) their seconds and bytes."""

    runs: Sequence[Row]
    builds: dict[tuple[str, str], tuple[float, int]]


@cache
def read(path: Path = FILE) -> Known:
    """What the file has.

    Raises:
        Failure: bad-input, when it is not as `text` writes it.
    """
    runs: list[Row] = []
    builds: dict[tuple[str, str], tuple[float, int]] = {}
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    reader = csv.DictReader(lines)
    try:
        if tuple(reader.fieldnames or ()) != _COLUMNS:
            raise ValueError("its columns are others")
        for one in reader:
            size = int(one["bytes"])
            if not one["cores"]:
                builds[one["kind"], one["name"]] = (float(one["seconds"]), size)
                continue
            runs.append(
                Row(
                    name="",
                    state=Outcome.OK,
                    key="",
                    workload=one["name"],
                    parameters=one["parameters"],
                    engine=one["kind"],
                    cores=int(one["cores"]),
                    bytes=size,
                    processor_seconds=float(one["processor_seconds"]),
                    peak_bytes=int(one["peak_bytes"]),
                )
            )
    except (ValueError, KeyError, TypeError) as error:
        raise bad_input(
            f"{path} is not as `run.py runs costs` writes it: {error}.", "Get it back from the repository."
        ) from error
    return Known(runs, builds)


def with_earlier(
    rows: Sequence[Row], builds: Mapping[tuple[str, str], tuple[float, int]], earlier: Known
) -> tuple[list[Row], dict[tuple[str, str], tuple[float, int]]]:
    """Runs and builds, and those ``earlier`` ones that there is no other like. Processor times of earlier runs are brought to
    this host's pace. A run whose workload has not these parameters any more is left out."""
    here, factor = _by_kind(rows).keys(), pace(rows, earlier) or 1
    kept = [
        msgspec.structs.replace(group[0], processor_seconds=group[0].processor_seconds * factor)
        for key, group in _by_kind(earlier.runs).items()
        if key not in here and _is_of_present(group[0])
    ]
    return [*rows, *kept], {**earlier.builds, **builds}


def _is_of_present(row: Row) -> bool:
    try:
        job = workloads.parse(f"{row.workload}:{row.parameters}")
    except Failure:
        return False
    return ",".join(f"{name}={value}" for name, value in job.parameters.items()) == row.parameters


def text(rows: Iterable[Row], builds: Mapping[tuple[str, str], tuple[float, int]], where: str) -> str:
    """The file's content; ``where`` says on which host, at which commit and when."""
    output = io.StringIO()
    output.write(f"# Written by `run.py runs costs`; do not edit. {where}\n")
    writer = csv.writer(output, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for (kind, name), (seconds, size) in sorted((key, cost) for key, cost in builds.items() if key[0] in _BUILDS):
        writer.writerow((kind, name, "", "", f"{seconds:.1f}", "", size, ""))
    for key, group in sorted(_by_kind(rows).items()):
        used = fmean(row.processor_seconds for row in group)
        size, peak = (max(getattr(row, what) for row in group) for what in ("bytes", "peak_bytes"))
        writer.writerow((*key, "", f"{used:.1f}", size, peak))
    return output.getvalue()


def pace(rows: Iterable[Row], known: Known | None = None) -> float | None:
    """How many times the processor time of that host this host takes, from what both ran: the median over all kinds of runs. None
    where there is no such kind. ``known`` is what the file has, if not given."""
    there = {key: group[0].processor_seconds for key, group in _by_kind((known or read()).runs).items()}
    here = {key: fmean(row.processor_seconds for row in group) for key, group in _by_kind(rows).items()}
    both = here.keys() & there.keys()
    return median(here[key] / there[key] for key in both) if both else None


def _by_kind(rows: Iterable[Row]) -> dict[tuple[str, str, str, int], list[Row]]:
    """Complete runs that say what they took, by what a line of the file is of."""
    groups: dict[tuple[str, str, str, int], list[Row]] = {}
    for row in rows:
        if row.state == Outcome.OK and row.processor_seconds:
            groups.setdefault((row.engine, row.workload, row.parameters, row.cores), []).append(row)
    return groups
