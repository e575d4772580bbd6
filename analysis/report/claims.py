# SPDX-License-Identifier: BSD-3-Clause
"""What the paper states with a number or an order, as data (analysis/claims.toml), and what runs show of it.

A claim names runs, a quantity of them and a bound. It holds where the quantity lies within the bound. One that is known to differ
says why, and its reasons are measured in the same way.
"""

import math
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from statistics import fmean
from typing import Any

from analysis.attribute.tables import read_table
from analysis.report import claim_cells
from analysis.report.bottlenecks import load_catalogue
from analysis.report.content import Cell, Chapter, Column, Section, Table, Value
from analysis.report.cycle_stacks import PARTS, stack
from analysis.report.runs import Run
from common.outcome import Failure, bad_input

DATA = Path(__file__).parents[1] / "claims.toml"
_SELECTION = ("workload", "kernel", "cores", "order", "set", "paper", "paper_cores")
_OWN = ("name", "section", "says", "published", "quantity", "of", "over", "lines", "functions", "at_least", "at_most")
_FLAGS = ("quick", "differs", "because", "trials")
_OF_REASONS = (*_SELECTION, "says", "quantity", "of", "over", "lines", "functions", "at_least", "at_most")
_BUILDS_APART = 0.1
"""A value may move by this share of its bound when kernel and disks are built anew, as places in memory then do. Seen of the
mount table's lock in Exim: 0.9 and 1.0 % of the waiting."""
_VERDICTS = {"holds": ("holds", "hold"), "differs": ("differs", "differ"), "not run": ("was not run", "were not run")}
"""Verdict -> as one and as several have it."""
_FUNCTIONS = 200
"""Functions of a run's profile among which those of a claim are looked for."""
_OF_MEMORY = ("dram_local_cycles", "dram_remote_cycles")
_WAITS = ("l3_cycles", "same_socket_cycles", "other_socket_cycles", "upgrade_cycles", *_OF_MEMORY)
"""Columns of the table cores: what a core waits for beyond its L2."""
_LINES_OF_MEMORY = ("dram_local", "dram_remote", "writebacks")
"""The same: lines that memory gives or takes."""


@dataclass(frozen=True)
class Selection:
    """Runs that differ in their number of cores only.

    ``kernel`` is what comes behind the kernel source in a point: `stock`, `pk` or fixes; ``settings`` are keys of the machine;
    ``trial`` is the number of the trial; ``at_paper`` are parameters of the workload at the paper's size, in place of its own;
    ``cores_at_paper`` are numbers of cores at that size, where it has others than ``cores``.
    """

    workload: str
    kernel: str
    cores: tuple[int, ...]
    order: str = "seq"
    settings: tuple[tuple[str, str], ...] = ()
    trial: int = 1
    at_paper: tuple[tuple[str, str], ...] = ()
    cores_at_paper: tuple[int, ...] = ()

    def points(self, source: str) -> list[dict[str, str]]:
        """The settings of a point for each number of cores, on a kernel source."""
        fixed = {"workload": self.workload, "kernel": f"{source}:{self.kernel}", "order": self.order}
        machine = {f"set.{key}": value for key, value in self.settings}
        machine |= {"trial": str(self.trial)} if self.trial > 1 else {}
        return [{**fixed, **machine, "cores": str(cores)} for cores in self.cores]

    def on(self, settings: Mapping[str, str]) -> "Selection":
        """These runs on a machine with ``settings``; a key that they set themselves stays."""
        return replace(self, settings=tuple(sorted({**settings, **dict(self.settings)}.items())))

    @property
    def text(self) -> str:
        """For people: ``stock on 48 cores``."""
        words = [self.kernel, *(f"{key}={value}" for key, value in self.settings)]
        words += [self.order] if self.order != "seq" else []
        many = ", ".join(map(str, self.cores))
        return f"{' '.join(words)} on {many} core{'' if self.cores == (1,) else 's'}"


@dataclass(frozen=True)
class Quantity:
    """Something of one run, or of those of a selection. ``text`` writes a value; a ratio of two is written as such."""

    meaning: str
    measure: Callable[[Sequence[Run], "Claim"], float]
    text: str
    several: bool = False
    """Whether it is of runs on several numbers of cores together."""


@dataclass(frozen=True)
class Claim:
    """One statement. The value is the quantity of ``of``, divided by that of ``over`` where there is one."""

    name: str
    section: str
    says: str
    published: str
    """What the paper gives, as text; empty where it gives no figure."""
    quantity: str
    of: Selection
    over: Selection | None
    at_least: float | None
    at_most: float | None
    lines: tuple[str, ...] = ()
    """Entries of the catalogue, or type.fields and variables (patterns), that a share of cycles is of."""
    functions: tuple[str, ...] = ()
    """Functions that a share of samples is of (patterns)."""
    quick: bool = False
    """Whether it is one of those for a first look."""
    differs: str = ""
    """Why runs have shown something else; empty where they have not."""
    because: tuple["Claim", ...] = ()
    """What is measured for that reason: statements on these runs or others, each with its bound."""
    trials: int = 1
    """Of each run; the quantity is their mean."""

    @property
    def sides(self) -> tuple[tuple[Selection, ...], ...]:
        """The trials of ``of``, and those of ``over`` where there is one."""
        both = (self.of,) if self.over is None else (self.of, self.over)
        return tuple(tuple(replace(one, trial=number + 1) for number in range(self.trials)) for one in both)

    @property
    def selections(self) -> tuple[Selection, ...]:
        """All runs that the claim and its reasons need; some may be named twice."""
        own = tuple(one for side in self.sides for one in side)
        return own + tuple(one for reason in self.because for one in reason.selections)

    def changed(self, change: Callable[[Selection], Selection]) -> "Claim":
        """The claim about other runs."""
        return replace(
            self,
            of=change(self.of),
            over=None if self.over is None else change(self.over),
            because=tuple(reason.changed(change) for reason in self.because),
        )

    def said(self, value: float) -> str:
        """A value as text."""
        if math.isnan(value):
            return "0 over 0"
        return f"{value:.2f}" if self.over is not None else QUANTITIES[self.quantity].text.format(value)

    @property
    def bound(self) -> str:
        """What the value must be, as text."""
        low = "" if self.at_least is None else self.said(self.at_least)
        high = "" if self.at_most is None else self.said(self.at_most)
        if low and high:
            return f"{low} to {high}"
        return f"at least {low}" if low else f"at most {high}"

    @property
    def measured(self) -> str:
        """What is measured, in words."""
        meaning = QUANTITIES[self.quantity].meaning
        subject = " + ".join((*self.lines, *self.functions))
        mean = f", mean of {self.trials} trials" if self.trials > 1 else ""
        of = f"{meaning}{f' of {subject}' if subject else ''}{mean}: {self.of.workload}, {self.of.text}"
        return of if self.over is None else f"{of}, over {_difference(self.over, self.of)}"

    def holds(self, value: float, margin: float = 0.0) -> bool:
        """Whether a value is within the bound, and by no less than ``margin``, a share of the bound."""
        low, high = self.at_least, self.at_most
        return (low is None or value >= low * (1 + margin)) and (high is None or value <= high * (1 - margin))


def _difference(one: Selection, other: Selection) -> str:
    return one.text if one.workload == other.workload else f"{one.workload}, {one.text}"


@dataclass(frozen=True)
class Judged:
    """A claim and what runs show of it; ``value`` is None where one of its runs is not there."""

    claim: Claim
    value: float | None
    reasons: tuple["Judged", ...] = ()
    """What these runs show of the claim's reasons, where it is known to differ."""

    @property
    def verdict(self) -> str:
        """`holds`, `differs` or `not run`."""
        if self.value is None:
            return "not run"
        return "holds" if self.claim.holds(self.value) else "differs"

    @property
    def news(self) -> bool:
        """Whether that is not what claims.toml says of it: it held and does not, it differed and holds, or it was not run.

        A claim that differs is news too where one of its reasons does not hold; and none where it holds so barely that it may
        differ again in the next build.
        """
        if self.claim.differs and self.value is not None and self.verdict == "holds":
            return self.claim.holds(self.value, _BUILDS_APART)
        return self.verdict != ("differs" if self.claim.differs else "holds") or bool(self.failed)

    @property
    def measured(self) -> str:
        """The value as text."""
        return "" if self.value is None else self.claim.said(self.value)

    @property
    def failed(self) -> tuple["Judged", ...]:
        """The reasons that do not hold, of a claim that differs."""
        return tuple(one for one in self.reasons if one.verdict != "holds") if self.verdict == "differs" else ()

    @property
    def why(self) -> str:
        """Why the claim differs, with what was measured for it; empty where it does not."""
        if self.verdict != "differs":
            return ""
        measured = "; ".join(f"{one.claim.says}: {one.measured or 'not run'} ({one.claim.bound})" for one in self.reasons)
        return f"{self.claim.differs}. Measured: {measured}" if measured else self.claim.differs


def _part(name: str) -> Callable[[Sequence[Run], Claim], float]:
    def measure(runs: Sequence[Run], claim: Claim) -> float:
        found = runs[0].part(name)
        if found is None:
            raise bad_input(f"{runs[0].folder}: its engine does not count {name} time.", "Take runs of an engine that does.")
        return found

    return measure


def _per_unit(name: str) -> Callable[[Sequence[Run], Claim], float]:
    """Microseconds of all cores for a unit of work."""
    part = _part(name)
    return lambda runs, claim: 1e6 * part(runs, claim) / runs[0].throughput.mean


def _core_seconds(name: str) -> Callable[[Sequence[Run], Claim], float]:
    part = _part(name)
    return lambda runs, claim: part(runs, claim) * float(runs[0].metrics["seconds"]) * runs[0].cores


def _kernel_share(runs: Sequence[Run], claim: Claim) -> float:
    system, user = _part("system")(runs, claim), _part("user")(runs, claim)
    return system / (system + user)


def _cycles(runs: Sequence[Run], claim: Claim) -> float:
    run = runs[0]
    entries = {entry.id for entry in load_catalogue()}
    chosen = [share for share in run.bottlenecks() if share.bottleneck.id in claim.lines]
    fields = [pattern for pattern in claim.lines if pattern not in entries]
    chosen += [share for share in run.fields() if any(fnmatchcase(share.title, pattern) for pattern in fields)]
    return sum(share.cycles_share for share in chosen)


def _memory_share(runs: Sequence[Run], _: Claim) -> float:
    found = stack(runs[0])
    if found is None or None in (waits := [found.parts.get(PARTS[column]) for column in _WAITS]):
        raise bad_input(f"{runs[0].folder}: its engine does not tell all that cores wait for.", "Take runs of one that does.")
    memory = sum(found.parts[PARTS[column]] or 0.0 for column in _OF_MEMORY)
    return memory / sum(wait or 0.0 for wait in waits)


def _memory_bandwidth(runs: Sequence[Run], _: Claim) -> float:
    """Lines read from memory and sent home, in the region, of what the memories of all sockets can move."""
    run = runs[0]
    cores = read_table(run.folder, "cores", [], counted=_LINES_OF_MEMORY)
    lines = sum(sum(cores.column(name).to_pylist()) for name in _LINES_OF_MEMORY)
    machine = run.point["machine"]
    limit = int(machine["sockets"]) * float(machine["dram_gbytes_per_second"]) * 1e9
    return float(lines * int(machine["line_bytes"]) / float(run.metrics["seconds"]) / limit)


def _samples(runs: Sequence[Run], claim: Claim) -> float:
    found = runs[0].profile(_FUNCTIONS)
    return sum(share for name, _, share in found if any(fnmatchcase(name, pattern) for pattern in claim.functions))


def _peak(runs: Sequence[Run], _: Claim) -> float:
    return float(max(runs, key=lambda run: run.throughput.mean * run.cores).cores)


QUANTITIES: Mapping[str, Quantity] = {
    "per-core": Quantity("units of work per second and core", lambda runs, _: runs[0].throughput.mean, "{:,.0f}"),
    "total": Quantity("units of work per second", lambda runs, _: runs[0].throughput.mean * runs[0].cores, "{:,.0f}"),
    "idle": Quantity("idle time", _part("idle"), "{:.1%}"),
    "kernel-share": Quantity("share of the busy time in the kernel", _kernel_share, "{:.1%}"),
    "system": Quantity("kernel time", _part("system"), "{:.1%}"),
    "user": Quantity("user time", _part("user"), "{:.1%}"),
    "system-per-unit": Quantity("kernel time for a unit of work", _per_unit("system"), "{:,.3g} us"),
    "user-per-unit": Quantity("user time for a unit of work", _per_unit("user"), "{:,.3g} us"),
    "system-seconds": Quantity("kernel time of all cores in the region", _core_seconds("system"), "{:.3g} s"),
    "cycles": Quantity("share of the cycles waited beyond the L2", _cycles, "{:.1%}"),
    "memory-share": Quantity("share of memory in the cycles waited beyond the L2", _memory_share, "{:.1%}"),
    "memory-bandwidth": Quantity("share of what the memories can move", _memory_bandwidth, "{:.1%}"),
    "samples": Quantity("share of the busy samples", _samples, "{:.1%}"),
    "peak": Quantity("number of cores with the most units per second", _peak, "{:.0f}", several=True),
}


def load(path: Path = DATA) -> list[Claim]:
    """All claims, in the order of the file; those of figure 1 last.

    Raises:
        Failure: bad-input, naming the claim and what is wrong with it.
    """
    data = _read(path)
    cells = claim_cells.entries(data[claim_cells.TABLE], _wrong_cells(path)) if claim_cells.TABLE in data else []
    claims = [_claim(path, entry) for entry in (*data.get("claim", []), *cells)]
    names = [claim.name for claim in claims]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise bad_input(f"{path}: two claims are called {twice[0]}.", "Give one of them another name.")
    return claims


def _wrong_cells(path: Path) -> Callable[[str], Failure]:
    return lambda why: bad_input(f"{path}: {claim_cells.TABLE} {why}.", "The comment above the table says what it has.")


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise bad_input(f"{path} cannot be read ({error}).", "Correct it.") from None


def choose(claims: Sequence[Claim], names: Sequence[str]) -> list[Claim]:
    """Those of ``names``, each a name or a pattern such as ``exim-*``.

    Raises:
        Failure: bad-input, for a name that none has.
    """
    for name in names:
        if not any(fnmatchcase(claim.name, name) for claim in claims):
            raise bad_input(f"There is no claim {name!r}.", "`run.py claims` lists all.")
    return [claim for claim in claims if any(fnmatchcase(claim.name, name) for name in names)]


def _claim(path: Path, entry: Mapping[str, Any]) -> Claim:
    name = str(entry.get("name", "without a name"))

    def wrong(why: str) -> Failure:
        return bad_input(f"{path}: the claim {name} {why}.", "The comment at the top of the file says what a claim has.")

    if unknown := sorted(entry.keys() - {*_SELECTION, *_OWN, *_FLAGS}):
        raise wrong(f"has {', '.join(unknown)}, which means nothing there")
    if missing := [key for key in ("name", "section", "says", "quantity", "of") if not entry.get(key)]:
        raise wrong(f"has no {missing[0]}")
    quantity = str(entry["quantity"])
    if quantity not in QUANTITIES:
        raise wrong(f"is of the quantity {quantity!r}, which is none of {', '.join(QUANTITIES)}")
    low, high = entry.get("at_least"), entry.get("at_most")
    if low is None and high is None:
        raise wrong("has neither at_least nor at_most, and so no bound")
    common = {key: entry[key] for key in _SELECTION if key in entry}
    of, *over = (selection({**common, **entry[key]}, wrong) for key in ("of", "over") if key in entry)
    several = QUANTITIES[quantity].several
    if any((len(one.cores) > 1) is not several for one in (of, *over)):
        raise wrong(f"needs {'several numbers' if several else 'one number'} of cores for the quantity {quantity}")
    trials = entry.get("trials", 1)
    if not isinstance(trials, int) or isinstance(trials, bool) or trials < 1:
        raise wrong("has trials that are no whole number from 1 on")
    lines, functions = tuple(entry.get("lines", ())), tuple(entry.get("functions", ()))
    if bool(lines) is not (quantity == "cycles") or bool(functions) is not (quantity == "samples"):
        raise wrong("needs `lines` for cycles and `functions` for samples, and for nothing else")
    if entry.get("because") and not entry.get("differs"):
        raise wrong("has reasons (`because`) and no `differs`")
    return Claim(
        name,
        str(entry["section"]),
        str(entry["says"]),
        str(entry.get("published", "")),
        quantity,
        of,
        over[0] if over else None,
        None if low is None else float(low),
        None if high is None else float(high),
        lines,
        functions,
        bool(entry.get("quick", False)),
        str(entry.get("differs", "")),
        tuple(_reason(path, entry, given, wrong) for given in entry.get("because", ())),
        trials,
    )


def _reason(path: Path, entry: Mapping[str, Any], given: Mapping[str, Any], wrong: Callable[[str], Failure]) -> Claim:
    """A reason of a claim: of the claim's own runs, where it does not name others."""
    if unknown := sorted(given.keys() - set(_OF_REASONS)):
        raise wrong(f"has a reason with {', '.join(unknown)}, which means nothing there")
    runs = {key: entry[key] for key in _SELECTION if key in entry} | dict(entry["of"])
    runs |= {key: given[key] for key in _SELECTION if key in given} | dict(given.get("of", {}))
    own = {key: value for key, value in given.items() if key not in _SELECTION}
    own |= {"over": runs | dict(given["over"])} if "over" in given else {}
    return _claim(path, {**own, "of": runs, "name": f"{entry['name']} (a reason)", "section": entry["section"]})


def selection(given: Mapping[str, Any], wrong: Callable[[str], Failure]) -> Selection:
    """The runs that a table of the file names; ``wrong`` makes the failure of what is wrong with it.

    Raises:
        Failure: bad-input, for no or a wrong number of cores, no workload, or no kernel.
    """
    counts, at_paper_counts = _counts(given.get("cores")), _counts(given.get("paper_cores", []))
    if not counts or at_paper_counts is None:
        raise wrong("has runs without a number of cores")
    if missing := [key for key in ("workload", "kernel") if not isinstance(given.get(key), str)]:
        raise wrong(f"has runs without a {missing[0]}")
    settings, at_paper = (
        tuple(sorted((str(key), str(value)) for key, value in dict(given.get(table, {})).items())) for table in ("set", "paper")
    )
    return Selection(
        str(given["workload"]),
        str(given["kernel"]),
        counts,
        str(given.get("order", "seq")),
        settings,
        at_paper=at_paper,
        cores_at_paper=at_paper_counts,
    )


def _counts(given: object) -> tuple[int, ...] | None:
    """Numbers of cores, from one of them or several; None for what is none."""
    counts: list[Any] = given if isinstance(given, list) else [given]
    return tuple(counts) if all(isinstance(one, int) and not isinstance(one, bool) and one > 0 for one in counts) else None


def judge(claim: Claim, runs: Mapping[tuple[Selection, int], Run]) -> Judged:
    """What the runs show of a claim; a run is known by its selection and its number of cores.

    Raises:
        Failure: bad-input, when an engine does not know the quantity.
    """
    values = []
    for side in claim.sides:
        measured = []
        for selection in side:
            found = [runs[selection, cores] for cores in selection.cores if (selection, cores) in runs]
            if len(found) < len(selection.cores):
                return Judged(claim, None)
            measured.append(QUANTITIES[claim.quantity].measure(found, claim))
        values.append(fmean(measured))
    reasons = tuple(judge(reason, runs) for reason in claim.because)
    if len(values) == 1:
        return Judged(claim, values[0], reasons)
    return Judged(claim, values[0] / values[1] if values[1] else _over_nothing(values[0]), reasons)


def _over_nothing(value: float) -> float:
    """A ratio to 0: of nothing to nothing there is none, and no bound holds."""
    return float("inf") if value else float("nan")


def counted(judged: Sequence[Judged]) -> str:
    """How many of each verdict."""
    counts = Counter(one.verdict for one in judged)
    return ", ".join(f"{counts[verdict]} {words[counts[verdict] != 1]}" for verdict, words in _VERDICTS.items())


def chapter(judged: Sequence[Judged]) -> Chapter:
    """The claims and what was measured, for a report."""
    table = Table(
        id="claims-table",
        title="The paper's claims, and these runs",
        kind="claims",
        columns=(
            Column("claim", row_header=True),
            Column("section"),
            Column("what the paper says"),
            Column("published"),
            Column("measured", filter=False),
            Column("value", "as in measured", "{:.4g}".format, shown=False),
            Column("wanted"),
            Column("verdict", filter=True),
            Column("what is measured", shown=False),
            Column("why it differs", shown=False),
        ),
        rows=[
            (
                one.claim.name,
                one.claim.section,
                one.claim.says,
                one.claim.published,
                Cell(one.measured),
                one.value,
                one.claim.bound,
                Cell(one.verdict, marks="meets" if one.verdict == "differs" else ""),
                one.claim.measured,
                one.why,
            )
            for one in judged
        ],
    )
    explanation = (
        "Each row is a statement of the paper or of the slides of its talk, and what these runs show of it. What is wanted is "
        "this project's: a range around the paper's figure, or a bound where the paper gives an order and no figure."
    )
    lead = (f"Of {len(judged)} claims {counted(judged)}.",)
    sections = [Section("Claims", "claims-all", explanation, (), (table,)), *_differences(judged)]
    return Chapter("Claims", "claims", lead, tuple(sections))


def _differences(judged: Sequence[Judged]) -> Iterator[Section]:
    """Why claims differ, with a row for each thing that is measured for it."""
    rows: list[tuple[Value | Cell, ...]] = []
    for one in judged:
        if one.verdict != "differs":
            continue
        known, text = one.claim.name, one.claim.differs or "not known"
        measured = [(each.claim.says, each.measured or each.verdict, each.value, each.claim.bound) for each in one.reasons]
        for number, reason in enumerate(measured or [("", "", None, "")]):
            shown = "" if number else None
            rows.append((Cell(known, shown), Cell(text, shown), *reason))
    if rows:
        columns = (
            Column("claim", row_header=True),
            Column("why it differs"),
            Column("what was measured for that"),
            Column("measured", filter=False),
            Column("value", "as in measured", "{:.4g}".format, shown=False),
            Column("wanted"),
        )
        table = Table(id="claims-differ-table", title="Why claims differ", columns=columns, rows=rows, kind="reasons")
        explanation = "The reason of each claim that differs, and what these runs show of it: it is measured again each time."
        yield Section("Why claims differ", "claims-differ", explanation, (), (table,))
