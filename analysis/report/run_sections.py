# SPDX-License-Identifier: BSD-3-Clause
"""Sections about one run: what its cores wait for, its hot lines and fields, traffic between sockets, where its cycles go."""

from collections.abc import Sequence

from markupsafe import Markup

from analysis.attribute.records import COUNTS, MESSAGE_KINDS
from analysis.report.content import Cell, Column, Section, Table, Value
from analysis.report.detail_tables import home_text
from analysis.report.hot_lines import HotLine
from analysis.report.markup import bar, breakable, instructions, lines, names
from analysis.report.runs import Run
from analysis.report.shares import Share
from analysis.report.words import heading, number, percent, short

_LINES = 15
_FIELDS = 15
_FUNCTIONS = 15

_MATRICES = {
    "requests": ("Requests", ("read", "write", "upgrade")),
    "from-cores": ("Lines supplied by another core", ("data from core",)),
    "from-memory": ("Lines supplied by memory", ("data from memory",)),
    "probes": ("Probes", ("directed probe", "broadcast probe")),
}
_COUNT_HEADINGS = {
    "transfers_other_socket": heading("cross_socket"),
    "transfers_same_socket": heading("same_socket"),
    "upgrades": heading("upgrades"),
    "l3_hits": heading("l3_hits"),
    "dram_local": f"{heading('dram')}, local",
    "dram_remote": f"{heading('dram')}, remote",
}
assert set(_COUNT_HEADINGS) == set(COUNTS)


def share_of_transfers(run: Run, value: float | None) -> Cell:
    """A share of the run's cross-socket transfers; nothing where there are too few for shares of them."""
    return Cell(value) if run.cross_socket_counts is not False else Cell(None, "")


def waits(run: Run, anchor: str) -> list[Section]:
    """The bottlenecks of the catalogue and what none explains."""
    title = f"What the {run.cores} core{'s wait' if run.cores > 1 else ' waits'} for"
    if run.transfers_count is False:
        return [Section(title, f"{anchor}-waits", f"{run.caption}: {run.hardly}. Shares of that say nothing and are left out.")]
    note = f"{run.caption}."
    if run.origins and run.cross_socket_counts:
        field, user, other = (percent(run.origins[what]) for what in ("field", "user", "other"))
        note += f" Of all cross-socket transfers {field} have a kernel type.field or variable, {user} are the application's own "
        note += f"memory, {other} are neither."
    table = Table(
        id=f"{anchor}-bottlenecks",
        title="Bottlenecks",
        kind="bottlenecks",
        columns=(
            Column(heading("share_of_transfers"), "fraction", percent),
            Column(heading("share_of_cycles"), "fraction", percent),
            Column("bottleneck", row_header=True),
            Column("cure", shown=False),
            Column("no. in the paper", format=str),
            Column("fields"),
            Column("functions"),
        ),
        rows=[_bottleneck(run, share) for share in run.bottlenecks() if _matters(share)],
        note=" ".join(filter(None, [note, run.abandoned])),
    )
    explanation = (
        "Each entry of the catalogue of bottlenecks with its share of the cross-socket transfers, and of the cycles waited "
        "beyond the L2 cache. What no entry explains is a row of its own, never left out."
    )
    return [Section(title, f"{anchor}-waits", explanation, (), (table,))]


def _matters(share: Share) -> bool:
    return share.transfers_share >= 0.0005 or share.cycles_share >= 0.005 or share.bottleneck.id == "unexplained"


def _bottleneck(run: Run, share: Share) -> tuple[Value | Cell, ...]:
    entry = share.bottleneck
    fields, functions = share.top("fields", 4), share.top("functions", 4)
    return (
        share_of_transfers(run, share.transfers_share),
        share.cycles_share,
        Cell(
            share.title,
            lines(share.title, f"cure: {entry.fix}" if entry.fix else ""),
            "rest" if entry.id == "unexplained" else "",
        ),
        entry.fix,
        Cell(entry.paper, str(entry.paper or "")),
        Cell(", ".join(fields), names(fields)),
        Cell(", ".join(functions), names(functions)),
    )


def hot_lines(run: Run, anchor: str) -> list[Section]:
    """The lines that moved between sockets most often, and a table in files of all their instructions."""
    if run.transfers_count is False:
        return []
    found = _shown(run.hot_lines(_LINES))
    table = Table(
        id=f"{anchor}-lines",
        title="Hot lines",
        kind="lines",
        columns=(
            Column(heading("share_of_transfers"), "fraction", percent),
            Column(heading("field"), row_header=True),
            *(Column(name, shown=False) for name in ("instance", "also in the line", "kind", "object", "physical address")),
            Column(heading("home"), "node", number, shown=False),
            Column("cores", "count", number),
            Column("cores that write", "count", number, shown=False),
            Column("reads of the card", "count", number, shown=False),
            Column("writes of the card", "count", number, shown=False),
            *(Column(text, "count", number) for text in _COUNT_HEADINGS.values()),
            Column(heading("cycles"), "core cycles", short),
            Column("lines alike that are not listed", "count", number, shown=False),
            Column("their share of cross-socket transfers", "fraction", percent, shown=False),
            Column(heading("instructions")),
        ),
        rows=[_hot_line(run, line) for line in found],
        note=f"{run.caption}{run.cycles_note}.",
    )
    sites = Table(
        id=f"{anchor}-instructions",
        title="Instructions that access the hot lines",
        columns=(
            *map(Column, ("physical address", heading("field"), "function", "place")),
            Column("share of the line's cycles waited", "fraction", percent),
            Column("cycles waited beyond the L2", "core cycles", number),
            *(Column(text, "count", number) for text in _COUNT_HEADINGS.values()),
        ),
        rows=[
            (
                f"{line.paddr:#x}",
                line.label,
                one.function,
                one.where,
                one.share,
                one.cycles,
                *(one.counts[name] for name in _COUNT_HEADINGS),
            )
            for line in found
            for one in line.sites
        ],
        note=f"{run.caption}{run.cycles_note}.",
        shown=False,
    )
    explanation = (
        "The 64-byte lines that moved between sockets most often, what lies in them, and where in the source the accessing "
        "instructions are. Percentages beside an instruction are of the cycles that the line's accesses waited."
    )
    return [Section("Hot lines", f"{anchor}-hot-lines", explanation, (), (table, sites))]


def _shown(found: Sequence[HotLine]) -> list[HotLine]:
    return [line for place, line in enumerate(found) if _moved(line) and (line.share >= 0.001 or place < 5)]


def _moved(line: HotLine) -> bool:
    return bool(line.counts["transfers_other_socket"] or line.counts["transfers_same_socket"])


def _hot_line(run: Run, line: HotLine) -> tuple[Value | Cell, ...]:
    share = share_of_transfers(run, line.share)
    similar = share_of_transfers(run, line.similar_share if line.similar else None)
    return (
        Cell(share.value, bar(percent(line.share), line.share)) if share.text is None and share.value is not None else share,
        Cell(line.label, _what(run, line)),
        line.instance or "",
        ", ".join(line.others),
        line.kind,
        line.name,
        f"{line.paddr:#x}",
        run.home(line.paddr),
        Cell(
            line.cores,
            lines(
                number(line.cores),
                "" if line.writers is None else f"{line.writers} write",
                "and the card" if line.by_card else "",
            ),
        ),
        line.writers,
        line.card_reads,
        line.card_writes,
        *(line.counts[name] for name in _COUNT_HEADINGS),
        line.cycles,
        line.similar,
        similar,
        Cell(
            "; ".join(f"{one.function} {one.where or ''}".strip() for one in line.sites),
            instructions(line.sites),
        ),
    )


def _what(run: Run, line: HotLine) -> Markup:
    """What lies in a line: its name, then the instance, further fields, the object and where it is, and lines like it."""
    others = ", ".join(line.others[:4]) + (", …" if len(line.others) > 4 else "")
    home = home_text(run, line)
    kind = f"{line.kind}{f' {line.name}' if line.name != line.kind else ''}, {line.paddr:#x}{f', home {home}' if home else ''}"
    alike = ""
    if line.similar:
        share = percent(line.similar_share) if run.cross_socket_counts is not False else ""
        alike = f"and {line.similar} more such line{'s' if line.similar > 1 else ''}{f', {share}' if share else ''}"
    return lines(
        Markup('<code class="name">{}</code>').format(breakable(line.label)),
        f"“{line.instance}”" if line.instance else "",
        breakable(f"also {others}") if others else "",
        breakable(kind),
        alike,
    )


def hot_fields(run: Run, anchor: str) -> list[Section]:
    """The same over all objects of a type."""
    found = [share for share in run.fields()[:_FIELDS] if share.other_socket or share.same_socket]
    if run.transfers_count is False or not found:
        return []
    table = Table(
        id=f"{anchor}-fields",
        title="Hot fields",
        kind="fields",
        columns=(
            Column(heading("share_of_transfers"), "fraction", percent),
            Column(heading("share_of_cycles"), "fraction", percent),
            Column(heading("field"), row_header=True),
            Column("lines", "count", number),
            Column(heading("cross_socket"), "count", number),
            Column(heading("same_socket"), "count", number),
            Column("functions"),
        ),
        rows=[
            (
                share_of_transfers(run, share.transfers_share),
                share.cycles_share,
                Cell(share.title, Markup('<code class="name">{}</code>').format(breakable(share.title))),
                share.lines,
                share.other_socket,
                share.same_socket,
                Cell(", ".join(share.top("functions", 4)), names(share.top("functions", 4))),
            )
            for share in found
        ],
        note=f"{run.caption}.",
    )
    explanation = (
        "The same transfers summed over all objects of a type: many lines that are each warm can cost as much as one hot line."
    )
    return [Section("Hot fields", f"{anchor}-hot-fields", explanation, (), (table,))]


def traffic(run: Run, anchor: str) -> list[Section]:
    """A matrix of sockets for each kind of message of which there are any."""
    found = [table for name in _MATRICES if (table := _matrix(run, f"{anchor}-{name}", name)) is not None]
    explanation = (
        "Messages by requesting socket (rows) and home socket of the line (columns). Memory spread evenly makes an even matrix; "
        "a hot column is a home that everybody asks; a hot diagonal is local traffic."
    )
    return [Section("Traffic between sockets", f"{anchor}-traffic", explanation, (), tuple(found))] if found else []


def _matrix(run: Run, identifier: str, name: str) -> Table | None:
    title, kinds = _MATRICES[name]
    assert set(kinds) <= set(MESSAGE_KINDS)
    amounts = run.matrix_of(kinds)
    most = int(amounts.max(initial=0))
    if not most:
        return None
    return Table(
        id=identifier,
        title=f"{title} ({short(int(amounts.sum()))})",
        kind="heat",
        columns=(
            Column("from", row_header=True),
            *(Column(f"home {home}", "messages", short) for home in range(amounts.shape[1])),
        ),
        rows=[
            (f"socket {requester}", *(Cell(int(one), None if one else "", heat=int(one) / most) for one in row))
            for requester, row in enumerate(amounts)
        ],
        note=f"{run.caption}.",
    )


def profile(run: Run, anchor: str) -> list[Section]:
    """Functions by samples."""
    found = run.profile(_FUNCTIONS)
    if not found:
        return []
    table = Table(
        id=f"{anchor}-profile",
        title="Functions",
        kind="profile",
        columns=(Column("busy samples", "fraction", percent), Column("function", row_header=True), Column("file")),
        rows=[
            (
                Cell(share, bar(percent(share), share)),
                Cell(function, Markup("<code>{}</code>").format(breakable(function))),
                Cell(file, breakable(file or "", "/")),
            )
            for function, file, share in found
        ],
        note=f"{run.caption}.",
    )
    explanation = "One sample per fixed number of busy cycles of each core; “user” is code of programs without symbols."
    return [Section("Where the cycles go", f"{anchor}-samples", explanation, (), (table,))]
