# SPDX-License-Identifier: BSD-3-Clause
"""Can a table deceive? Two values of a key never become one series, trials are shown as they are, each word has one meaning.

*Series*: real short runs, and of the first a copy with another value of each key that a point has, one key at a time: those of
the point, all parameters of the workload, all keys of machines/schema.toml. Each copy must be a row of its own and, for every key
but the number of cores, a series of its own; only runs that differ in the trial may be one row.

*Trials*: mean, range and 95 % interval of a row, worked out again from the files of the runs by Python's statistics module.

*Columns*: tables in 80, 100 and 120 columns have no line beyond the width, nothing is cut, and their figures are the same.

*Words*: every heading of every table is explained in words.toml, once.

*Warm-ups*: a default point on one core does as much with twice the work, or all that is relative to it is too good; of one
microbenchmark here, of everything with `verify warm-ups`.
"""

import argparse
import json
import re
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.table import Table

from analysis.report.ablations import ablations
from analysis.report.cells import whole_heading
from analysis.report.detail_tables import bottleneck_table, function_table, hot_line_table, time_table, trials_table
from analysis.report.runs import Run
from analysis.report.series import by_workload, load_runs
from analysis.report.tables import ablation_table, overview_table, show
from analysis.report.words import Word, load_words
from common.terminal import console, plain_table
from harness.checks.registry import Check
from harness.checks.verify import warm_ups
from harness.checks.verify.measuring import point, prepare_host, scratch
from harness.run import runner
from harness.spec.kernel import default_source
from harness.spec.machine_schema import schema
from harness.spec.point import Point

NAME = "tables"
SUMMARY = "two values of a key are never one series, trials as they are, no figure cut in 80 columns, each word explained once"

_POINT = "machine=small-2x2 * workload=micro:open-close:iterations=53,warmup=11"
_TRIALS = 3
_WARM = "micro:open-close"
_T_OF_2 = 4.303  # Student's t, 97.5 %, 2 degrees of freedom
_WIDTHS = (80, 100, 120)
_CORES = 4
_PLAIN = {
    "engine": "third",
    "source": "linux-0.1",
    "fixes": ["one"],
    "workload": "macro",
    "variant": "other",
    "cores": 3,
    "order": "rr",
}
"""Another value of each field of a point that is no table; of the trial there is none, it makes trials."""
_NO_KEYS = ("machine", "parameters", "trial", "workload_folder")
"""Fields of a point that are tables, make trials, or are not part of what it is."""
_NAMES_IN_FILE = {"source": "kernel"}
"""Fields of a point that its file calls otherwise."""
_BOUND = 0.005  # half a unit of the third digit


def keys(wanted: Point) -> list[str]:
    """Every key that a point has, as point.toml names it, but the trial: ``order``, ``parameters.warmup``, ``machine.l2_kib``."""
    plain = [field.name for field in fields(wanted) if field.name not in _NO_KEYS]
    return [
        *(_NAMES_IN_FILE.get(name, name) for name in plain),
        *(f"parameters.{name}" for name in wanted.parameters),
        *(f"machine.{name}" for name in schema().keys),
    ]


def changed(text: str, key: str) -> str:
    """A point.toml with another value of one key.

    Raises:
        ValueError: it has no such key, or no other value for it is known.
    """
    table, _, name = key.rpartition(".")
    field = next((field for field, written in _NAMES_IN_FILE.items() if written == name), name)
    here, out, found = "", [], False
    for line in text.splitlines():
        here = line.strip("[]") if line.startswith("[") else here
        if here == table and line.startswith(f"{name} = "):
            value = json.loads(line.partition(" = ")[2])
            if not table and field not in _PLAIN:
                raise ValueError(f"no other value of {key} is known")
            line = f"{name} = {json.dumps(f'{value}1' if table else _PLAIN[field])}"
            found = True
        out.append(line)
    if not found:
        raise ValueError(f"point.toml has no {key}")
    return "\n".join(out) + "\n"


def copies(run: Path, wanted: Point, folder: Path) -> Iterator[tuple[str, Path]]:
    """Of each key a copy of ``run`` whose point has another value of it."""
    text = (run / "point.toml").read_text(encoding="utf-8")
    for number, key in enumerate(keys(wanted)):
        place = folder / f"copy-{number}"
        place.mkdir(parents=True)
        for path in run.iterdir():
            if path.name != "point.toml":
                (place / path.name).symlink_to(path.resolve())
        (place / "point.toml").write_text(changed(text, key), encoding="utf-8")
        yield key, place


def merged(trials: Sequence[Path], copied: Mapping[str, Path]) -> list[str]:
    """What is wrong with how the runs are told apart, a sentence each; ``trials`` are all trials of one point."""
    loaded = load_runs([*trials, *copied.values()])
    shown = {trial.folder: run for run in loaded for trial in run.trials}
    base = shown[trials[0]]
    wrong = [] if len(base.trials) == len(trials) else [f"{len(trials)} trials are shown as {len(base.trials)}"]
    rows = Counter((run.workload, run.series, run.cores) for run in loaded)
    for key, folder in copied.items():
        run = shown.get(folder)
        if run is None:
            wrong.append(f"{key}: taken for a copy of the run with another value of it")
        elif len(run.trials) != 1:
            wrong.append(f"{key}: merged with another value of it, as a trial")
        elif rows[run.workload, run.series, run.cores] != 1:
            wrong.append(f"{key}: a row with the same label as another")
        elif key != "cores" and (run.workload, run.series) == (base.workload, base.series):
            wrong.append(f"{key}: in one series with another value of it")
    return wrong


def untrue(run: Run, folders: Sequence[Path]) -> list[str]:
    """What the table says of a run's trials and their files do not."""
    rates = [float(json.loads((folder / "metrics.json").read_text())["units_per_second_core"]) for folder in folders]
    half = _T_OF_2 * statistics.stdev(rates) / len(rates) ** 0.5
    (row,) = trials_table([run]).rows_of_figures()
    spread = [min(rates), max(rates), len(rates)]
    wanted = {"mean": [statistics.mean(rates)], "range": spread, "interval": [half], "best": [max(rates)]}
    return [
        f"trials: {name} is shown as {cell!r} and is {', '.join(f'{value:g}' for value in values)}"
        for (name, values), cell in zip(wanted.items(), row[1:], strict=True)
        if not _alike(figures(cell), values)
    ]


_SCALE = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}


def figures(text: str) -> list[float]:
    """The numbers in a text, those with a prefix of the SI as what they stand for."""
    given = re.findall(r"(?<![\w.])(\d[\d,]*(?:\.\d+)?)(?: ([kMGT])(?!\w))?", text)
    return [float(number.replace(",", "")) * _SCALE[prefix] for number, prefix in given]


def _alike(one: Sequence[float], other: Sequence[float]) -> bool:
    return len(one) == len(other) and all(abs(a - b) <= max(_BOUND * abs(b), 1e-9) for a, b in zip(one, other, strict=True))


def cut(runs: Sequence[Run]) -> list[str]:
    """What is wrong with the tables of ``runs`` at several widths."""
    wrong, shown = [], {}
    for width in _WIDTHS:
        out = StringIO()
        show(runs, Console(file=out, width=width), details=True, steps=True)
        text = out.getvalue()
        wrong += [f"{width} columns: {line!r} is longer" for line in text.splitlines() if len(line) > width]
        wrong += [f"{width} columns: something is cut"] if "\N{HORIZONTAL ELLIPSIS}" in text else []
        shown[width] = [cell for row in overview_table(runs, width).rows_of_figures() for cell in row]
    for width, cells in shown.items():
        pairs = zip(cells, shown[_WIDTHS[-1]], strict=True)
        wrong += [f"{width} columns: {one!r} for {other!r}" for one, other in pairs if not _alike(figures(one), figures(other))]
    return wrong


def headings(runs: Sequence[Run]) -> set[str]:
    """The heading of every column of every table of ``runs``."""
    made: list[Table] = [overview_table(runs, 120), *(ablation_table(one, 120) for one in ablations(runs))]
    for group in by_workload(runs).values():
        made += [time_table(group), trials_table(group)]
    made += [table for run in runs for table in (hot_line_table(run), bottleneck_table(run), function_table(run))]
    return {whole_heading(str(column.header)) for table in made for column in table.columns}


def unexplained(shown: Iterable[str], words: Iterable[Word], units: Iterable[str]) -> list[str]:
    """The headings that no word, or more than one, explains, a sentence each."""
    known = list(words)
    wrong = []
    for heading in sorted(shown):
        meant = [word for word in known if _explains(word, heading, units)]
        if len(meant) != 1:
            wrong.append(f"{heading!r}: explained {len(meant)} times")
    return wrong


def _explains(word: Word, heading: str, units: Iterable[str]) -> bool:
    """Whether ``heading`` is the word's: its own, one of the several that its name lists, or one that begins as its name does."""
    if word.name.endswith(" ..."):
        return heading.startswith(word.name.removesuffix("..."))
    if word.heading:
        return heading in {word.heading.format(unit=unit) for unit in (*units, "units")}
    return heading in word.name.split(", ")


def planned(_: argparse.Namespace) -> list[Point]:
    """What `run` runs: the trials, the run on more cores, and a default point with its work once and twice."""
    trials = [point(f"{_POINT} * cores=2 * trial={number + 1}") for number in range(_TRIALS)]
    pair = _pair()
    return [*trials, point(f"{_POINT} * cores={_CORES}"), point(pair.default), point(pair.twice)]


def _pair() -> warm_ups.Pair:
    (pair,) = warm_ups.pairs([_WARM], [default_source()])
    return pair


def cold(change: warm_ups.Change) -> list[str]:
    """What is wrong with a default region, in a sentence."""
    return [] if change.suffices else [f"{change.title}: {100 * change.share:+.1f} % with twice the work"]


def run(arguments: argparse.Namespace) -> Check:
    """Run the points, judge series, trials, widths and words; print what was judged and what is wrong."""
    prepare_host()
    with scratch(NAME) as folder:
        wanted = planned(arguments)
        made = [runner.run_point(one, folder / "runs").folder for one in wanted[:-2]]
        change = warm_ups.measure(_pair(), folder / "warm")
        trials = made[:_TRIALS]
        copied = dict(copies(trials[0], wanted[0], folder / "copies"))
        whole = load_runs([*made, copied["fixes"], copied["machine.hop_cycles"], copied["kernel"]])
        trial = next(one for one in whole if len(one.trials) == _TRIALS)
        shown = headings(whole)
        parts = {
            "keys of a point": (len(copied), merged(trials, copied)),
            "figures of trials": (4, untrue(trial, trials)),
            "widths of a terminal": (len(_WIDTHS), cut(whole)),
            "warm-ups": (1, cold(change)),
            "headings": (len(shown), unexplained(shown, load_words().values(), {one.unit for one in whole})),
        }
    table = plain_table("judged", title="Tables")
    table.add_column("how many", justify="right")
    table.add_column("wrong", overflow="fold")
    for name, (count, wrong) in parts.items():
        table.add_row(name, str(count), "\n".join(wrong))
    console().print(table)
    counted = ", ".join(f"{count} {name}" for name, (count, _) in parts.items())
    problems = [one for _, wrong in parts.values() for one in wrong]
    figure = f"{NAME}: {counted}; {len(problems)} wrong{f' ({problems[0]})' if problems else ''}; wanted: 0"
    return Check(not problems, figure, min(count for count, _ in parts.values()))
