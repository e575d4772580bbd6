# SPDX-License-Identifier: BSD-3-Clause
"""How long does a user wait for a report of many runs, and for the list of all?

    report   80 runs with tables as large as those of an application on 48 cores: `run.py report`, a process of its own, with what
             a report needs of each run kept beside it. Beside it, the same for a few of the runs whose tables must be read.
    queue    10,000 points: from the text of a sweep to what an executor takes; nothing runs.
    list     10,000 runs: `run.py runs list`, a process of its own; beside it, `find` over the same folders.

Runs are made up: random traffic on random lines, from a seed, so that nothing is booted and sizes are known. Times are
processor seconds: on a quiet host a user waits that long.
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from rich.table import Table

from analysis.attribute import schema, tables
from analysis.attribute.records import MESSAGE_KINDS
from analysis.report import kept_tables
from analysis.report.beside import MANIFEST
from common.arguments import positive
from common.json_files import write_json
from common.once import reading_once
from common.paths import REPOSITORY
from common.terminal import console
from harness.checks.registry import Check
from harness.checks.verify.measuring import keep, scratch
from harness.run import catalogue, many, run_directory
from harness.run.executors.queue import Queue
from harness.spec import point as points
from harness.spec import sweep
from harness.spec.point import Point

NAME = "report"
SUMMARY = "seconds for a report of 80 application runs and for a list of 10,000; a point in a queue of 10,000"
QUICK = ("--rows", "2000", "--runs", "8", "--listed", "500", "--queued", "500")

_REPORT_SECONDS, _LIST_SECONDS, _QUEUE_MILLISECONDS = 15.0, 1.0, 1.0
_ROWS = 200_000
_READ = 2  # runs whose tables are read for comparison


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--runs", type=positive, default=80, metavar="N", help="runs of the report (%(default)s)")
    parser.add_argument("--rows", type=positive, default=_ROWS, metavar="N", help="sites of each of them (%(default)s)")
    parser.add_argument("--queued", type=positive, default=10_000, metavar="N", help="points queued (%(default)s)")
    parser.add_argument("--listed", type=positive, default=10_000, metavar="N", help="runs listed (%(default)s)")


def run(arguments: argparse.Namespace) -> Check:
    """Make the runs, time the commands, print what each took."""
    table = Table("what", title="Many runs", title_justify="left")
    for heading in ("took", "wanted", "beside it"):
        table.add_column(heading, justify="right")
    with scratch(NAME) as folder:
        reported, beside = _report(folder / "reported", arguments.runs, arguments.rows)
        table.add_row(
            f"report of {arguments.runs} runs",
            f"{reported:.1f} s",
            f"{_REPORT_SECONDS:g} s",
            f"{beside:.1f} s without what is kept",
        )
        listed, walked = _list(folder / "listed", arguments.listed)
        table.add_row(f"list of {arguments.listed} runs", f"{listed:.2f} s", f"{_LIST_SECONDS:g} s", f"{walked:.2f} s for find")
        queued = _queue(folder / "queued", arguments.queued)
        table.add_row(f"a point in queueing {arguments.queued}", f"{queued:.2f} ms", f"{_QUEUE_MILLISECONDS:g} ms", "")
        held = queued <= _QUEUE_MILLISECONDS and reported <= _REPORT_SECONDS and listed <= _LIST_SECONDS
        if not held:
            keep(folder)
    console().print(table)
    figure = (
        f"{NAME}: {arguments.runs} runs in {reported:.1f} s, {arguments.listed} listed in {listed:.2f} s, "
        f"{queued:.2f} ms a point queued; wanted: at most {_REPORT_SECONDS:g} s, {_LIST_SECONDS:g} s, {_QUEUE_MILLISECONDS:g} ms"
    )
    return Check(held, figure, arguments.runs + arguments.listed + arguments.queued)


def _report(root: Path, count: int, rows: int) -> tuple[float, float]:
    """Seconds for the report of so many runs, and for the same with nothing kept beside them (worked out from a few of them)."""
    wanted = _points(count)
    first = make_run(root, wanted[0], rows)
    catalogue.note(first)
    kept = kept_tables.find(first)
    for one in wanted[1:]:
        copy = copy_run(first, one)
        kept_tables.keep(copy, kept)  # its tables are the same files
        catalogue.note(copy)
    page = root.with_name("report.html")
    seconds = _timed(["report", "--output", str(root), "--report", str(page)])
    some = root.with_name("some")
    for one in wanted[:_READ]:
        shutil.copytree(root / one.id, some / one.id, copy_function=os.link)
    with_them = _timed(["report", "--output", str(some), "--report", str(page)])
    without = _timed(["report", "--output", str(some), "--report", str(page)])
    return seconds, seconds + count * max(0.0, with_them - without) / len(wanted[:_READ])


def _list(root: Path, count: int) -> tuple[float, float]:
    """Seconds for a list of so many runs, and for find over them."""
    wanted = _points(count)
    first = make_run(root, wanted[0], 10)
    for one in wanted[1:]:
        copy_run(first, one)
    _timed(["runs", "list", "--output", str(root)])  # makes the catalogue of runs that were copied there
    seconds = _timed(["runs", "list", "--output", str(root)])
    return seconds, _seconds(["find", str(root), "-type", "f", "-size", "+1"])


def _queue(root: Path, count: int) -> float:
    """Milliseconds of processor time a point, from the text of a sweep to a queue that an executor can take."""
    text = f"workload=micro:stat * cores=1 * trial={'+'.join(str(number + 1) for number in range(count))}"
    began = time.process_time()
    with reading_once():
        wanted = [points.resolve(one) for one in sweep.parse(text).settings]
    many.complete(wanted, root, "same")
    queue = Queue.make(root, wanted, "same")
    for task in queue.tasks.values():
        queue.command(task)
    return 1e3 * (time.process_time() - began) / count


def _timed(arguments: Sequence[str]) -> float:
    """Processor seconds of a command of run.py."""
    return _seconds([sys.executable, "-m", "harness.cli", *arguments])


def _seconds(command: Sequence[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=REPOSITORY, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _points(count: int) -> list[Point]:
    """So many points of applications on 1 to 48 cores: four core counts of each application, then trials."""
    names = ("exim", "memcached", "apache", "postgresql", "gmake", "psearchy", "metis")
    texts = [f"workload={name} * cores={cores}" for name in names for cores in (48, 24, 12, 6)]
    settings = [sweep.parse(text).settings[0] for text in texts]
    with reading_once():
        return [points.resolve({**settings[n % len(settings)], "trial": str(1 + n // len(settings))}) for n in range(count)]


def make_run(root: Path, wanted: Point, rows: int) -> Path:
    """A complete run directory with made-up tables of so many sites, on half as many lines."""
    root.mkdir(parents=True, exist_ok=True)
    with run_directory.new_run(root, wanted) as folder:
        random = np.random.default_rng(7)
        for name, values in _tables(random, rows).items():
            _write(folder, name, values)
        metrics = {"units": 100_000, "unit": "operations", "seconds": 0.1, "units_per_second": 1e6}
        metrics |= {"units_per_second_core": 1e6 / wanted.cores, "user": 0.3, "system": 0.6, "idle": 0.1}
        metrics |= {"abandoned_walks": {}, "full_nodes": [], "node_memory": {}}
        write_json(folder / "metrics.json", metrics)
        engine = {"name": "fast", "versions": {}, "note": "made up", "cycles": "nobody's"}
        write_json(folder / "provenance.json", {"digests": {"kernel": "1"}, "engine": engine, "command": []})
    return root / wanted.id


def copy_run(run: Path, wanted: Point) -> Path:
    """The same run under the name of another point: tables are the same files, the manifest is its own."""
    copy = run.with_name(wanted.id)
    shutil.copytree(run, copy, copy_function=os.link)
    for name in ("point.toml", MANIFEST, "metrics.json"):
        (copy / name).unlink()
    points.write(wanted, copy / "point.toml")
    metrics = json.loads((run / "metrics.json").read_text(encoding="utf-8"))
    write_json(copy / "metrics.json", metrics | {"units_per_second_core": 1e6 / wanted.cores})
    lines = (run / MANIFEST).read_text(encoding="utf-8").splitlines()
    changed = run_directory.manifest_lines(copy, ("point.toml", "metrics.json"))
    kept = [f"{line}\n" for line in lines if line.partition("  ")[2] not in ("point.toml", "metrics.json")]
    (copy / MANIFEST).write_text("".join([*kept, *changed]), encoding="utf-8")
    return copy


def _tables(random: np.random.Generator, rows: int) -> dict[str, dict[str, Any]]:
    """Columns of the tables with ``rows`` sites on half as many lines, the first of them hot; the others are zeros."""
    lines = max(rows // 2, 1)
    called = min(lines, 100)  # lines whose callers are known
    paddr = np.sort(random.choice(lines * 16, lines, replace=False)).astype(np.uint64) * 64 + (1 << 24)
    owner = np.minimum(random.zipf(1.3, rows) - 1, lines - 1)
    code = np.minimum(random.zipf(1.2, rows) - 1, 4999)
    moved = np.where(owner < lines // 100, random.poisson(3, rows), 0)
    per_line = np.bincount(owner, moved, minlength=lines).astype(np.int64)
    function = np.array([f"function_{number}" for number in range(5000)])
    fields = np.array([f"struct_{number % 300}.field_{number}" for number in range(2000)])
    field_of_line = fields[np.arange(lines) % len(fields)]
    frames = [[f"{name} mm/file.c:{number % 900}"] for number, name in enumerate(function)]
    counts = {"transfers_other_socket": moved, "transfers_same_socket": moved // 5, "cycles": random.poisson(900, rows)}
    sockets = [(home, requester, kind) for home in range(8) for requester in range(8) for kind in MESSAGE_KINDS]
    return {
        "lines": {
            "paddr": paddr,
            "cores": np.full(lines, (1 << 48) - 1, np.uint64),
            "transfers_other_socket": per_line,
            "transfers_same_socket": per_line // 5,
            "cycles": per_line * 300,
        },
        "sites": {
            "paddr": paddr[owner],
            "pc": code + (1 << 40),
            "kernel": np.ones(rows, np.uint8),
            "accesses": moved + 1,
            "writes": moved,
            **counts,
            "function": function[code],
            "frames": pa.array(frames).take(pa.array(code)),
            "file": np.full(rows, "mm/file.c"),
            "line": code % 900 + 1,
            "field": field_of_line[owner],
            "lines": np.ones(rows, np.uint32),
        },
        "matrix": {
            "home": [home for home, _, _ in sockets],
            "requester": [requester for _, requester, _ in sockets],
            "kind": [kind for _, _, kind in sockets],
            "messages": random.poisson(5000, len(sockets)),
        },
        "cores": {"core": np.arange(48), "cycles": np.full(48, 240_000_000)},
        "samples": {
            "core": np.arange(5000) % 48,
            "pc": np.arange(5000) + (1 << 40),
            "kernel": np.ones(5000, np.uint8),
            "count": random.poisson(40, 5000),
            "function": function,
            "file": np.full(5000, "mm/file.c"),
        },
        "callers": {
            "caller": np.arange(1, 401),
            "parent": np.maximum(np.arange(400) - 20, 0),
            "function": function[np.arange(400)],
        },
        "site-callers": {
            "paddr": paddr[np.repeat(np.arange(called), 20)],
            "pc": np.tile(np.arange(20), called) + (1 << 40),
            "caller": np.arange(20 * called) % 400 + 1,
            "walks": random.poisson(50, 20 * called) + 1,
            "cycles": random.poisson(20_000, 20 * called),
        },
        "sample-callers": {
            "pc": np.arange(2000) + (1 << 40),
            "kernel": np.ones(2000, np.uint8),
            "caller": np.arange(2000) % 400 + 1,
            "count": random.poisson(40, 2000),
        },
        "memory-types": {
            "paddr": paddr,
            "kind": np.full(lines, "slab"),
            "name": np.full(lines, "cache"),
            "type": np.full(lines, "struct x"),
            "field": field_of_line,
        },
    }


def _write(folder: Path, name: str, columns: Mapping[str, Any]) -> None:
    """Write a table; columns that are not given are zeros or empty."""
    rows = len(next(iter(columns.values())))
    arrays = {}
    for column in schema.load().tables[name].columns:
        kind = tables.ARROW[column.parquet_type]
        if column.name in columns:
            arrays[column.name] = pa.array(columns[column.name]).cast(kind)
        else:
            blank: Any = {"text": "", "texts": [], "bool": False}.get(column.parquet_type, 0)
            arrays[column.name] = pa.repeat(pa.scalar(blank, kind), rows)
    tables.write_table(folder, name, pa.table(arrays), {"engine": "fast"})
