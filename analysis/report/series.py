# SPDX-License-Identifier: BSD-3-Clause
"""Which runs belong together: trials of one point, points of one series.

A point is everything in point.toml; runs whose points differ in the trial alone are trials of one. A series, a curve of a
figure, is all of the point but the trial and the number of cores. Its label says whatever tells it from the other series of its
workload.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from analysis.report.runs import Run

_Settings = dict[str, str]
_Key = tuple[tuple[str, str], ...]


def load_runs(folders: Iterable[Path]) -> list[Run]:
    """The runs in ``folders``, one for each point, by workload, series and cores; a run knows the other trials of its point.

    Runs of one point and trial that were made from other builds are no trials of each other: each is a series of its own.

    Raises:
        Failure: bad-input, when a folder is not a complete run.
    """
    runs = _each_once(Run(folder) for folder in folders)
    series = {id(run): _series_settings(run) for run in runs}
    _tell_builds_apart(runs, series)
    groups: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        groups[run.workload].append(run)
    for group in groups.values():
        _tell_apart(group, series)
    points: dict[tuple[_Key, int], list[Run]] = defaultdict(list)
    for run in runs:
        points[(_key(series[id(run)]), run.cores)].append(run)
    return sorted(map(_with_trials, points.values()), key=_order)


def by_workload(runs: Sequence[Run]) -> dict[str, list[Run]]:
    """Runs grouped by workload."""
    groups: dict[str, list[Run]] = {}
    for run in runs:
        groups.setdefault(run.workload, []).append(run)
    return groups


def by_series(runs: Sequence[Run]) -> dict[str, list[Run]]:
    """Runs of one workload grouped by their series' label."""
    groups: dict[str, list[Run]] = {}
    for run in runs:
        groups.setdefault(run.series, []).append(run)
    return groups


def largest(runs: Sequence[Run]) -> list[Run]:
    """Of each series of one workload the run with the most cores."""
    return [max(group, key=lambda run: run.cores) for group in by_series(runs).values()]


def common_words(runs: Sequence[Run]) -> list[str]:
    """The words of a series that all runs have."""
    return [word for word in runs[0].series_words if all(word in run.series_words for run in runs)]


def by_number(text: str) -> list[tuple[int, int, str]]:
    """A key to sort texts by in which numbers count as numbers: 48 after 6."""
    parts = re.split(r"(\d+)", text)
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts if part]


def _order(run: Run) -> tuple[object, ...]:
    # The stock kernel before its fixes, so that it comes first in every table and figure.
    names = (run.workload, run.parameters, run.source)
    return (*map(by_number, names), len(run.fixes), by_number(run.series), run.cores)


def _each_once(runs: Iterable[Run]) -> list[Run]:
    """One run of each point, trial and builds: the others are copies."""
    kept: dict[tuple[_Key, _Key], Run] = {}
    for run in runs:
        kept.setdefault((_key(run.settings | {"trial": str(run.trial)}), _key(run.builds)), run)
    return list(kept.values())


def _series_settings(run: Run) -> _Settings:
    return {key: value for key, value in run.settings.items() if key != "cores"}


def _tell_builds_apart(runs: Sequence[Run], series: dict[int, _Settings]) -> None:
    """Add builds to the settings of series that have a point which was run on several."""
    builds: dict[_Key, dict[int, set[_Key]]] = defaultdict(lambda: defaultdict(set))
    for run in runs:
        builds[_key(series[id(run)])][run.cores].add(_key(run.builds))
    mixed = {key for key, by_cores in builds.items() if any(len(found) > 1 for found in by_cores.values())}
    for run in runs:
        if _key(series[id(run)]) in mixed:
            series[id(run)] |= {f"{what} build": digest[:8] for what, digest in run.builds.items()}


def _tell_apart(group: Sequence[Run], series: Mapping[int, _Settings]) -> None:
    """Give the runs of one workload the words by which their series differ: parameters, and what the labels lack."""
    everything = [series[id(run)] for run in group]
    parameters = [key for key in _differing(everything) if key.startswith("parameters.")]
    for run in group:
        run.distinctions = _words(series[id(run)], parameters)
    alike: dict[str, list[Run]] = defaultdict(list)
    for run in group:
        alike[run.series].append(run)
    for same in alike.values():
        for run in same:
            more = [key for key in _differing([series[id(one)] for one in same]) if key not in parameters]
            run.distinctions += _words(series[id(run)], more)


def _differing(settings: Sequence[_Settings]) -> list[str]:
    """The keys in which settings differ, sorted."""
    keys = sorted({key for one in settings for key in one})
    return [key for key in keys if len({one.get(key) for one in settings}) > 1]


def _words(settings: _Settings, keys: Iterable[str]) -> tuple[str, ...]:
    words = []
    for key in keys:
        value, name = settings.get(key), key.removeprefix("parameters.").removeprefix("machine.")
        words.append(f"without {name}" if value is None else f"{name} {value}" if " " in name else f"{name}={value}")
    return tuple(words)


def _key(settings: Mapping[str, str]) -> _Key:
    return tuple(sorted(settings.items()))


def _with_trials(trials: list[Run]) -> Run:
    """The first trial, which knows of the others: on an engine that perturbs trials it is the one that is as it is."""
    ordered = tuple(sorted(trials, key=lambda run: run.trial))
    for run in ordered:
        run.trials = ordered
    return ordered[0]
