# SPDX-License-Identifier: BSD-3-Clause
"""The paper's figures, and runs set beside them: kernel time on one core, and which application meets which bottleneck."""

import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from analysis.report.bottlenecks import Bottleneck, load_catalogue
from analysis.report.evidence import Figure, measure_again, read_figures
from analysis.report.runs import Run
from common import paths
from common.outcome import Failure, bad_input

DATA = Path(__file__).with_name("paper.toml")
_OF_SOURCE = "paper-differences.toml"
"""In the folder of a kernel source: what differs on it."""


@dataclass(frozen=True)
class Application:
    """One of the seven; ``kernel_share_one_core`` is the paper's share of kernel time on one core."""

    workload: str
    title: str
    kernel_share_one_core: float
    clients: bool
    """The load comes from clients, in the guest or behind the network card."""
    matrix: str
    """The workload that figure 1's cells are looked for in, as a point names it: of `verify matrix`, and of claims."""


@dataclass(frozen=True)
class Difference:
    """Why a cell of the matrix, or a kernel share, differs from the paper's: from runs, for a kernel source (all if empty)."""

    application: str
    bottleneck: int
    source: str
    reason: str
    figures: tuple[Figure, ...]
    """The reason holds while all of them do."""

    def is_about(self, run: Run, bottleneck: Bottleneck) -> bool:
        """Whether it is of that cell of the run's column."""
        here = (self.application, self.bottleneck) == (run.application, bottleneck.paper)
        return here and self.source in ("", run.source)

    def holds_in(self, run: Run) -> bool:
        """Whether a run shows it: it has figures on as many cores, and all of them are in the run as they were."""
        own = [figure for figure in self.figures if figure.cores == run.cores]
        try:
            return bool(own) and all(one.holds for one in measure_again(own, {run.cores: run}))
        except Failure:  # its engine does not count all of them
            return False


@dataclass(frozen=True)
class Paper:
    """paper.toml, and what the folders of kernel sources add."""

    meets_cycles_share: float
    applications: Mapping[str, Application]
    differences: tuple[Difference, ...]

    def difference(self, run: Run, bottleneck: Bottleneck) -> Difference | None:
        """Why its application differs from the paper in this bottleneck; None if nobody has found out."""
        return next((known for known in self.differences if known.is_about(run, bottleneck)), None)


def load_paper() -> Paper:
    """Read paper.toml and the differences of each kernel source.

    Raises:
        Failure: bad-input, naming the file and the reason that has no figure, or one that is none.
    """
    return read_paper(DATA, paths.KERNELS)


@cache
def read_paper(path: Path, kernels: Path) -> Paper:
    """`load_paper` of that file and that folder of kernel sources."""
    data: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    applications = {
        name: Application(
            name,
            entry["title"],
            float(entry["kernel_share_one_core"]),
            bool(entry.get("clients")),
            entry["matrix"],
        )
        for name, entry in data["applications"].items()
    }
    differences = _differences(path, data, "", applications)
    for of_source in sorted(kernels.glob(f"*/{_OF_SOURCE}")):
        data_of_source = tomllib.loads(of_source.read_text(encoding="utf-8"))
        differences += _differences(of_source, data_of_source, of_source.parent.name, applications)
    return Paper(float(data["meets_cycles_share"]), applications, tuple(differences))


def _differences(path: Path, data: Mapping[str, Any], source: str, applications: Collection[str]) -> list[Difference]:
    sixteen = {entry.paper: entry.id for entry in the_sixteen()}
    found = []
    for one in data.get("difference", ()):
        application, number = one["application"], one["bottleneck"]
        if application not in applications:
            raise bad_input(f"{path}: {application} is no application of the paper.", f"Give one of {', '.join(applications)}.")
        if number not in sixteen:
            raise bad_input(f"{path}: {number} is no bottleneck of the paper.", "Give its number in figure 1, 1 to 16.")
        figures = read_figures(path, one, sixteen[number])
        found.append(Difference(application, number, source, one["reason"], figures))
    return found


def the_sixteen() -> list[Bottleneck]:
    """The paper's bottlenecks by its numbers."""
    return sorted((entry for entry in load_catalogue() if entry.paper is not None), key=lambda entry: entry.paper or 0)


@dataclass(frozen=True)
class Cell:
    """One application and one bottleneck: what the run shows, what the paper says."""

    bottleneck: Bottleneck
    cycles_share: float
    transfers_share: float
    meets: bool
    paper: bool
    difference: Difference | None
    """Why it is not what the paper says, where somebody has found out."""
    cores: int
    """Of the run."""

    @property
    def agrees(self) -> bool:
        return self.meets == self.paper


@dataclass(frozen=True)
class Column:
    """One run's column of the matrix, the 16 cells in the paper's order."""

    run: Run
    application: Application
    cells: tuple[Cell, ...]


def matrix(runs: Sequence[Run]) -> list[Column]:
    """A column per run of an application, in the order of the runs."""
    paper = load_paper()
    found = []
    for run in runs:
        application = paper.applications.get(run.application)
        if application is None:
            continue
        shares = {share.bottleneck.id: share for share in run.bottlenecks()}
        cells = []
        for bottleneck in the_sixteen():
            share = shares.get(bottleneck.id)
            cycles, transfers = (share.cycles_share, share.transfers_share) if share else (0.0, 0.0)
            meets, says = cycles >= paper.meets_cycles_share, application.title in bottleneck.applications
            known = paper.difference(run, bottleneck) if meets != says else None
            cells.append(Cell(bottleneck, cycles, transfers, meets, says, known, run.cores))
        found.append(Column(run, application, tuple(cells)))
    return found


def merge(columns: Sequence[Column]) -> list[Column]:
    """One column per application: in each cell the run with the largest share of the cycles.

    Where most cores queue at one lock, they do not reach what is behind it: a run on fewer cores shows that.
    """
    groups: dict[str, list[Column]] = {}
    for column in columns:
        groups.setdefault(column.application.workload, []).append(column)
    found = []
    for group in groups.values():
        rows = zip(*(column.cells for column in group), strict=True)
        cells = tuple(max(row, key=lambda cell: cell.cycles_share) for row in rows)
        found.append(Column(group[0].run, group[0].application, cells))
    return found


@dataclass(frozen=True)
class KernelShare:
    """Kernel time of an application's busy time on one core, beside the paper's."""

    run: Run
    application: Application
    share: float


def kernel_shares(runs: Sequence[Run]) -> list[KernelShare]:
    """One entry per run of an application on one core whose engine knows user and system time."""
    found = []
    for run in runs:
        application = load_paper().applications.get(run.application)
        user, system = (run.over_trials(partial(Run.part, what=part)) for part in ("user", "system"))
        if application is not None and run.cores == 1 and user is not None and system is not None and user + system > 0:
            found.append(KernelShare(run, application, system / (user + system)))
    return found
