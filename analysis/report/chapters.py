# SPDX-License-Identifier: BSD-3-Clause
"""The chapters of a report: all workloads together, one for each workload, how to read it, where it is from.

What a chapter on a workload has besides throughput are the functions in `OF_WORKLOAD` and `OF_RUN`: to add a section, add one
(`content` says how).
"""

import shlex
from collections.abc import Callable, Sequence

from analysis.report import (
    ablation_sections,
    caller_sections,
    cycle_stacks,
    difference_sections,
    run_sections,
    sharing,
    throughput,
    windows,
)
from analysis.report.ablations import ablations
from analysis.report.comparisons import kept
from analysis.report.content import Cell, Chapter, Column, Report, Section, Table, Value
from analysis.report.finding import findings
from analysis.report.markup import breakable, lines, slug
from analysis.report.paper import Column as PaperColumn
from analysis.report.paper import kernel_shares, matrix, the_sixteen
from analysis.report.runs import Run
from analysis.report.series import by_workload, largest
from analysis.report.words import cores_text, load_words, percent

OF_WORKLOAD: tuple[Callable[[Sequence[Run], str], list[Section]], ...] = (
    cycle_stacks.sections,
    difference_sections.sections,
)
"""Called with all runs of a workload, by series and cores, and what identifiers begin with."""

OF_RUN: tuple[Callable[[Run, str], list[Section]], ...] = (
    windows.sections,
    run_sections.waits,
    run_sections.hot_lines,
    sharing.sections,
    caller_sections.line_takers,
    caller_sections.waiting,
    run_sections.hot_fields,
    run_sections.traffic,
    run_sections.profile,
)
"""Called with the run with the most cores of each series of a workload, and what identifiers begin with."""


def report(
    runs: Sequence[Run], width: float | None = None, diff: tuple[Run, Run] | None = None, *, brief: bool = False
) -> Report:
    """The report on runs as `load_runs` orders them, and the two of ``diff`` beside each other; ``width`` as in `tables.show`.

    A ``brief`` one has no chapter on each workload.
    """
    workloads = by_workload(runs)
    trials = [trial for run in runs for trial in run.trials]
    machines = ", ".join(dict.fromkeys(run.machine for run in runs))
    captions = "; ".join(sorted({run.engine_facts.caption for run in runs}))
    beside = [_beside(*diff)] if diff else []
    chapters = [
        _together(runs),
        *beside,
        *(() if brief else (_workload(group, width) for group in workloads.values())),
        _reading(),
        _provenance(trials),
    ]
    return Report(
        _title(list(workloads)),
        f"{len(trials)} run{'s' if len(trials) > 1 else ''} on {machines}; {captions}. "
        "All times and cycles are those of the simulated machine.",
        tuple(chapter for chapter in chapters if chapter.sections),
    )


def _title(workloads: list[str]) -> str:
    if len(workloads) > 3:
        return f"{len(workloads)} workloads"
    return " and ".join(filter(None, [", ".join(workloads[:-1]), workloads[-1]]))


def _workload(runs: Sequence[Run], width: float | None) -> Chapter:
    anchor = slug(runs[0].workload)
    sections = [throughput.scaling(runs, anchor, width)]
    sections += [section for make in OF_WORKLOAD for section in make(runs, anchor)]
    chosen = largest(runs)
    for place, run in enumerate(chosen, 1):
        mine = anchor if len(chosen) == 1 else f"{anchor}-{place}"
        found = [section for make in OF_RUN for section in make(run, mine)]
        sections += [section.of(run.series) for section in found] if len(chosen) > 1 else found
    return Chapter(runs[0].workload, anchor, tuple(findings(runs)), tuple(sections))


def _beside(one: Run, other: Run) -> Chapter:
    found = difference_sections.section(one, other, "diff-fields")
    return Chapter("A beside B", "diff", (), (found,))


def _together(runs: Sequence[Run]) -> Chapter:
    anchor = "together"
    entries = kept(runs)
    sections = []
    if len({(entry.workload, entry.series) for entry in entries}) > 1:
        sections.append(throughput.summary(entries, anchor))
    sections += [ablation_sections.section(one, f"{anchor}-fixes-{place}") for place, one in enumerate(ablations(runs), 1)]
    sections += _kernel_time(runs, anchor)
    sections += _met(runs, anchor)
    return Chapter("All together", anchor, (), tuple(sections))


def _kernel_time(runs: Sequence[Run], anchor: str) -> list[Section]:
    found = kernel_shares(runs)
    if not found:
        return []
    table = Table(
        id=f"{anchor}-kernel-time",
        title="Kernel time on one core",
        columns=(
            Column("application", row_header=True),
            Column("parameters", shown=False),
            Column("series", filter=True),
            Column("this run", "fraction", percent),
            Column("paper", "fraction", percent),
        ),
        rows=[
            (
                Cell(one.run.workload, lines(one.run.workload, one.run.parameters)),
                one.run.parameters,
                one.run.series,
                one.share,
                one.application.kernel_share_one_core,
            )
            for one in found
        ],
        note=f"Samples of the cores' busy cycles in the region. Engine: {_engines(runs)}.",
    )
    explanation = "Share of the busy time that is the kernel's, beside what the paper measured on its machine and kernel."
    return [Section(table.title, f"{anchor}-kernel", explanation, (), (table,))]


def _met(runs: Sequence[Run], anchor: str) -> list[Section]:
    """Applications and the paper's bottlenecks, of stock kernels where there are any; then why some differ from the paper."""
    everything = matrix([run for group in by_workload(runs).values() for run in largest(group) if run.cores > 1])
    stock = [column for column in everything if not column.run.fixes]
    columns = stock or everything
    if not columns:
        return []
    engines = f"Engine: {_engines([column.run for column in columns])}."
    table = Table(
        id=f"{anchor}-met",
        title="Share of the cycles waited, by bottleneck",
        kind="matrix",
        columns=(
            Column("no.", format=str),
            Column("bottleneck", row_header=True),
            *(Column(_name(column), "fraction", percent) for column in columns),
        ),
        rows=[
            (
                bottleneck.paper,
                bottleneck.title,
                *(
                    Cell(cell.cycles_share, marks=f"{'says' if cell.paper else ''} {'meets' if cell.meets else ''}".strip())
                    for cell in (column.cells[(bottleneck.paper or 1) - 1] for column in columns)
                ),
            )
            for bottleneck in the_sixteen()
        ],
        note=engines + (" Runs of kernels without fixes." if stock else ""),
    )
    tables = [table]
    reasons = {
        (column.application.title, cell.difference.reason): cell
        for column in stock
        for cell in column.cells
        if cell.difference is not None and cell.difference.holds_in(column.run)
    }
    if reasons:
        tables.append(
            Table(
                id=f"{anchor}-reasons",
                title="Where a stock kernel differs from the paper's figure, and other runs have shown why",
                columns=(
                    Column("application", row_header=True),
                    Column("no.", format=str),
                    Column("bottleneck"),
                    Column("reason"),
                ),
                rows=[(title, cell.bottleneck.paper, cell.bottleneck.title, why) for (title, why), cell in reasons.items()],
                note=engines,
            )
        )
    explanation = (
        "Share of the cycles that the cores wait beyond their L2, for each of the paper's 16 bottlenecks. A cell with a frame is "
        "one where the paper's figure 1 has the application meet the bottleneck; a run meets it from 1 % on, in bold."
    )
    return [Section("Which application meets which bottleneck", f"{anchor}-bottlenecks", explanation, (), tuple(tables))]


def _name(column: PaperColumn) -> str:
    run = column.run
    return ", ".join(filter(None, [column.application.title, run.point["variant"], cores_text(run.cores), run.kernel]))


def _engines(runs: Sequence[Run]) -> str:
    return ", ".join(sorted({run.engine for run in runs}))


def _reading() -> Chapter:
    words = Table(
        id="words",
        title="Words",
        kind="words",
        columns=(Column("word", row_header=True), Column("meaning")),
        rows=[(word.name, word.meaning) for word in load_words().values()],
    )
    explanation = (
        "A core can read or write memory only through a cache line of 64 bytes that its own caches hold. When several cores "
        "write the same line, it moves from core to core: each move is a transfer and costs hundreds of cycles. When that "
        "happens on every operation, more cores do not mean more work."
    )
    return Chapter(
        "How to read this", "reading", (), (Section("Words of the tables", "reading-words", explanation, (), (words,)),)
    )


def repeated_by(run: Run) -> str:
    """The command that makes the run again, as it can be pasted."""
    words = run.provenance.get("point")
    return shlex.join(["./run.py", "run", str(words) if words else str(run.folder / "point.toml")])


def _provenance(trials: Sequence[Run]) -> Chapter:
    rows: list[tuple[Value | Cell, ...]] = []
    for run in trials:
        said = run.provenance
        digests = [str((said.get("digests") or {}).get(name) or "unknown") for name in ("kernel", "image", "engine")]
        versions = [f"{name} {version}" for name, version in ((said.get("engine") or {}).get("versions") or {}).items()]
        revision, command = str(said.get("revision") or "unknown"), repeated_by(run)
        local = "with local changes" if said.get("dirty") else ""
        rows.append(
            (
                Cell(run.folder.name, breakable(run.folder.name, "._-")),
                Cell(run.engine, lines(run.engine, *(version[:24] for version in versions))),
                ", ".join(versions),
                Cell(revision, lines(revision[:12], local)),
                local,
                Cell(run.kernel, lines(run.kernel, str(said.get("kernel_release", "")))),
                str(said.get("kernel_release", "")),
                *(Cell(digest, digest[:12]) for digest in digests),
                command,
            )
        )
    table = Table(
        id="runs",
        title="Runs",
        kind="provenance",
        columns=(
            Column("run", row_header=True),
            Column("engine", filter=True),
            Column("versions", shown=False),
            Column("source revision"),
            Column("local changes", shown=False),
            Column("kernel", filter=True),
            Column("kernel release", shown=False),
            *(Column(f"build of {name}") for name in ("kernel", "image", "engine")),
            Column("command"),
        ),
        rows=rows,
    )
    explanation = "What each run was made from: hashes of its builds, and the command."
    return Chapter("Provenance", "provenance", (), (Section("Runs", "provenance-runs", explanation, (), (table,)),))
