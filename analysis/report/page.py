# SPDX-License-Identifier: BSD-3-Clause
"""The report: one HTML file that needs nothing else, readable on its own by a student."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
import markupsafe

from analysis.attribute.records import MESSAGE_KINDS
from analysis.report.comparisons import ablation_labels, ablations, kept
from analysis.report.figures import ablation, scaling, summary
from analysis.report.hot_lines import HotLine
from analysis.report.paper import Cell, Column, KernelShare, kernel_shares, load_paper, matrix, the_sixteen
from analysis.report.runs import Run
from analysis.report.series import by_series, by_workload, largest
from analysis.report.shares import Share
from analysis.report.tables import not_converged, share_of_transfers
from analysis.report.words import heading, load_words, number, percent, rate, short
from common.outcome import bad_input

_LINES = 15
_FIELDS = 15
_FUNCTIONS = 15

_MATRICES = {
    "Requests": ("read", "write", "upgrade"),
    "Lines supplied by another core": ("data from core",),
    "Lines supplied by memory": ("data from memory",),
    "Probes": ("directed probe", "broadcast probe"),
}


@dataclass(frozen=True)
class Heat:
    """A socket-to-socket matrix: ``cells[requester][home]`` is (text, share of the largest cell)."""

    title: str
    total: int
    cells: list[list[tuple[str, float]]]


@dataclass(frozen=True)
class Detail:
    """One run looked at closely."""

    run: Run
    lines: list[HotLine]
    fields: list[Share]
    bottlenecks: list[Share]
    heats: list[Heat]
    profile: list[tuple[str, str | None, float]]


@dataclass(frozen=True)
class Ablation:
    """Runs that differ only in their kernel's fixes."""

    title: str
    figure: str
    rows: list[tuple[str, Run]]

    @property
    def trials(self) -> int:
        """How many trials the row with the most is the mean of."""
        return max(len(run.trials) for _, run in self.rows)


@dataclass(frozen=True)
class Overview:
    """What all runs say together; each part is empty where the runs do not allow it."""

    figure: str
    ablations: list[Ablation]
    shares: list[KernelShare]
    matrix: list[Column]

    @property
    def reasons(self) -> list[tuple[str, Cell]]:
        """Application and cell of each difference from the paper's matrix that has a known reason, of stock kernels."""
        stock = [column for column in self.matrix if not column.run.fixes]
        found = [(column.application.title, cell) for column in stock for cell in column.cells if cell.reason]
        return list({(title, cell.reason): (title, cell) for title, cell in found}.values())

    @property
    def anything(self) -> bool:
        return bool(self.figure or self.ablations or self.shares or self.matrix)


@dataclass(frozen=True)
class Section:
    """One workload."""

    id: str
    workload: str
    finding: str
    figure: str  # SVG; empty where there is only one number of cores
    clients: bool  # the load comes from clients in the guest
    runs: list[Run]
    relative: list[float | None]
    means: list[dict[str, float | None]]
    details: list[Detail]

    @property
    def trials(self) -> bool:
        """Whether any run has more than one."""
        return any(len(run.trials) > 1 for run in self.runs)


def write(loaded: Sequence[Run], out: Path, width: float | None = None) -> None:
    """Write the report on runs as `load_runs` orders them to the file ``out``; ``width`` as in `tables.show`.

    Raises:
        Failure: bad-input, if there are no runs or a table of one cannot be read.
    """
    if not loaded:
        raise bad_input("There are no runs to report on.", "Run a point first, for example `run.py lab`.")
    sections = [_section(number, group) for number, group in enumerate(by_workload(loaded).values())]
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {"number": number, "percent": percent, "short": short, "breakable": _breakable, "rate": rate}
    environment.globals |= {
        "not_converged": lambda run: not_converged(run.throughput, width),
        "heading": heading,
        "share_of_transfers": share_of_transfers,
    }
    page = environment.get_template("report.html.j2").render(
        overview=_overview(loaded),
        sixteen=the_sixteen(),
        words=load_words().values(),
        sections=sections,
        runs=loaded,
        all_trials=[trial for run in loaded for trial in run.trials],
        engines=sorted({run.engine for run in loaded}),
        captions=sorted({run.engine_facts.caption for run in loaded}),
        title=_title([section.workload for section in sections]),
    )
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(page, encoding="utf-8")


def _overview(runs: Sequence[Run]) -> Overview:
    entries = kept(runs)
    several = len({entry.workload for entry in entries}) > 1 or len({entry.series for entry in entries}) > 1
    many = [run for group in by_workload(runs).values() for run in largest(group) if run.cores > 1]
    columns = matrix(many)
    stock = [column for column in columns if not column.run.fixes]
    return Overview(
        figure=summary(entries, "summary") if several else "",
        ablations=[
            Ablation(
                f"{group[0].caption_without_kernel}, {group[0].source}",
                ablation(group, f"a{number}"),
                list(zip(ablation_labels(group), group, strict=True)),
            )
            for number, group in enumerate(ablations(runs))
        ],
        shares=kernel_shares(runs),
        matrix=stock or columns,
    )


def _title(workloads: list[str]) -> str:
    if len(workloads) > 3:
        return f"{len(workloads)} workloads"
    return " and ".join(filter(None, [", ".join(workloads[:-1]), workloads[-1]]))


def _breakable(text: str, after: str = "._") -> markupsafe.Markup:
    """A name that a browser may break after the characters in ``after``."""
    return markupsafe.Markup(re.sub(rf"([{after}]+)(?=\w)", r"\1<wbr>", str(markupsafe.escape(text))))


def _section(index: int, runs: list[Run]) -> Section:
    base: dict[str, float] = {}
    relative = []
    for run in runs:
        mean = run.throughput.mean
        reference = base.setdefault(run.series, mean)
        relative.append(mean / reference if reference else None)
    application = load_paper().applications.get(runs[0].application)
    return Section(
        id=f"w{index}",
        workload=runs[0].workload,
        finding=_finding(runs),
        figure=scaling(runs, f"f{index}") if len({run.cores for run in runs}) > 1 else "",
        clients=application is not None and application.clients,
        runs=runs,
        relative=relative,
        means=[run.means for run in runs],
        details=[_detail(run) for run in largest(runs)],
    )


def _finding(runs: list[Run]) -> str:
    """What a reader should know first, in sentences."""
    sentences = []
    for last in largest(runs):
        first = min(by_series(runs)[last.series], key=lambda run: run.cores)
        named = f"On {last.series}: " if len(largest(runs)) > 1 else ""
        scaled = last.cores > first.cores and first.throughput.mean > 0
        if scaled:
            kept = last.throughput.mean / first.throughput.mean
            sentences.append(
                f"{named}with {last.cores} cores each core does {100 * kept:.0f} % of what it does with "
                f"{first.cores} core{'s' if first.cores > 1 else ''}."
            )
        sentences.append(f"{'' if scaled else named}{_cause(last)}")
    return _upper(" ".join(sentences))


def _cause(run: Run) -> str:
    """One sentence: which line moves between sockets most, or that none matters."""
    if run.transfers_count is False:
        return f"At {run.cores} cores {run.hardly}: nothing is shared."
    line, first = run.hot_lines(1)[0], run.bottlenecks()[0]
    named = f"of {line.label}" + (f" (“{line.instance}”)" if line.instance else "")
    if run.cross_socket_counts:
        text = f"At {run.cores} cores {100 * first.transfers_share:.0f} % of the cross-socket transfers are of one kind: "
        text += f"{first.title[:1].lower()}{first.title[1:]}. The hottest line, {named}, makes {100 * line.share:.0f} %"
    else:
        text = f"At {run.cores} cores hardly a line moves between sockets; within a socket the line that moves most is {named}"
    if line.sites:
        top = line.sites[0]
        text += f", with most of its cycles in {top.function}" + (f" ({top.where})" if top.where else "")
    return text + "."


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def _detail(run: Run) -> Detail:
    bottlenecks = [
        share
        for share in run.bottlenecks()
        if share.transfers_share >= 0.0005 or share.cycles_share >= 0.005 or share.bottleneck.id == "unexplained"
    ]
    few = run.transfers_count is False
    return Detail(
        run=run,
        lines=[] if few else _shown(run.hot_lines(_LINES)),
        fields=[] if few else [share for share in run.fields()[:_FIELDS] if share.other_socket or share.same_socket],
        bottlenecks=bottlenecks,
        heats=[heat for title, kinds in _MATRICES.items() if (heat := _heat(run, title, kinds)) is not None],
        profile=run.profile(_FUNCTIONS),
    )


def _shown(lines: Sequence[HotLine]) -> list[HotLine]:
    return [line for place, line in enumerate(lines) if _moved(line) and (line.share >= 0.001 or place < 5)]


def _moved(line: HotLine) -> bool:
    return bool(line.counts["transfers_other_socket"] or line.counts["transfers_same_socket"])


def _heat(run: Run, title: str, kinds: tuple[str, ...]) -> Heat | None:
    assert set(kinds) <= set(MESSAGE_KINDS)
    values: Any = run.matrix_of(kinds)
    most = int(values.max(initial=0))
    if not most:
        return None
    return Heat(title, int(values.sum()), [[(short(int(v)) if v else "", int(v) / most) for v in row] for row in values])
