# SPDX-License-Identifier: BSD-3-Clause
"""Changes of a kernel's source, as data: pieces that its build always needs, and the fixes under study (form: kernels/README.md).

A piece is a folder with `piece.toml` or `fix.toml`: new files, semantic patches whose every named rule must change an expected
number of places, text insertions whose place must be exactly one line, and (pieces only) replacements of a regular expression.
A fix also has an option of the kernel's configuration. `harness.build.source_changes` applies them.
"""

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from common.outcome import bad_input

TRANSFERS = ("transfers_same_socket", "transfers_other_socket", "upgrades")
"""What moves a line between cores."""

WITHOUT = "pk-"
"""Before the name of a fix: all fixes but that one."""

_FORMAT = "kernels/README.md describes the format."


@dataclass(frozen=True)
class Rules:
    """One semantic patch on one file. ``hits``: allowed numbers of changed places (runs of changed lines) of each rule."""

    patch: Path
    file: str
    hits: Mapping[str, tuple[int, ...]]


@dataclass(frozen=True)
class Place:
    """After (or before) the one line of ``file`` that ``line`` matches as a whole."""

    file: str
    line: re.Pattern[str]
    after: bool


@dataclass(frozen=True)
class Insert:
    """``text`` goes to ``place``."""

    place: Place
    text: str


@dataclass(frozen=True)
class Option:
    """A fix's symbol in the kernel's configuration (a bool, off by default), declared at ``place``."""

    symbol: str
    place: Place
    depends: str
    """What it depends on, as Kconfig writes it; empty: on nothing."""
    selects: tuple[str, ...]
    """Symbols that are on with it: those of the fixes that it needs, and of the kernel's own."""


@dataclass(frozen=True)
class Edit:
    """A replacement of a regular expression. ``already``: what a tree has that needs no change."""

    file: str
    pattern: re.Pattern[str]
    replacement: str
    counts: tuple[int, ...]
    already: re.Pattern[str] | None


@dataclass(frozen=True)
class Measure:
    """How `verify fixes` sees that a fix works: a workload, the lines it is about and by how much they must improve."""

    workload: str
    parameters: Mapping[str, str]
    lines: tuple[str, ...]
    """Labels (type.field or symbol) of what the fix is about; a label includes what lies below it."""
    counters: tuple[str, ...]
    """Columns of the table of sites that must fall; the stores of lines that every core stores to are always counted."""
    reduction: float | None
    effect: str
    over: tuple[str, ...] = ()
    """Fixes that the kernel without this one has too: on the stock kernel something that they remove binds first."""

    @property
    def without(self) -> str:
        """The fixes of the kernel that the fix is measured against: `over`, or stock."""
        return "+".join(self.over) or "stock"


@dataclass(frozen=True)
class Piece:
    """A change of the source. A fix has an ``option``; a library of fixes has no ``number``."""

    name: str
    summary: str
    folder: Path
    number: int | None = None
    option: Option | None = None
    needs: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    rules: tuple[Rules, ...] = ()
    inserts: tuple[Insert, ...] = ()
    edits: tuple[Edit, ...] = ()
    config: tuple[str, ...] = ()
    measure: Measure | None = None

    @property
    def files(self) -> Path | None:
        """Folder of new files, copied onto the tree."""
        folder = self.folder / "files"
        return folder if folder.is_dir() else None

    @property
    def new_files(self) -> tuple[str, ...]:
        """Names, from the tree's top, of the files that the piece brings."""
        folder = self.files
        return tuple(sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())) if folder else ()

    @property
    def touched(self) -> tuple[str, ...]:
        """Names of the tree's own files that the piece changes."""
        names = [one.file for one in self.rules] + [one.place.file for one in self.inserts] + [one.file for one in self.edits]
        return tuple(dict.fromkeys([*names, *([self.option.place.file] if self.option else [])]))

    @property
    def title(self) -> str:
        return f"fix {self.name}" if self.option else f"piece {self.name}"


def load_piece(path: Path) -> Piece:
    """The piece that a piece.toml describes.

    Raises:
        Failure: bad-input, naming file and key.
    """
    return _load(path, {"edits", "config"}, lambda data: None)


def load_fix(path: Path, options: Place) -> Piece:
    """The fix that a fix.toml describes, its option declared at ``options``; of what it selects, only the kernel's own symbols.

    Raises:
        Failure: bad-input, naming file and key.
    """

    def option(data: Mapping[str, Any]) -> Option:
        return Option(data["option"], options, data.get("depends", ""), tuple(data.get("selects", ())))

    return _load(path, {"number", "option", "depends", "selects", "needs", "conflicts", "measure"}, option)


def _load(path: Path, keys: set[str], option_of: Callable[[Mapping[str, Any]], Option | None]) -> Piece:
    try:
        data: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise bad_input(f"{path} is not there.", _FORMAT) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise bad_input(f"{path} is not valid TOML ({error}).", "Correct the file.") from error
    for key in data.keys() - keys - {"name", "summary", "rules", "inserts"}:
        raise bad_input(f"{path}: {key} is not a key of it.", _FORMAT)
    try:
        option = option_of(data)
        return Piece(
            name=data["name"],
            summary=data["summary"],
            folder=path.parent,
            number=data.get("number"),
            option=option,
            needs=tuple(data.get("needs", ())),
            conflicts=tuple(data.get("conflicts", ())),
            rules=tuple(_rules(path, one) for one in data.get("rules", ())),
            inserts=tuple(Insert(place(path, one), _whole_lines(one["text"])) for one in data.get("inserts", ())),
            edits=tuple(_edit(path, one) for one in data.get("edits", ())),
            config=tuple(data.get("config", ())) + ((f"CONFIG_{option.symbol}=y",) if option else ()),
            measure=_measure(data["measure"]) if "measure" in data else None,
        )
    except KeyError as error:
        raise bad_input(f"{path} lacks the key {error.args[0]}.", _FORMAT) from error


def _counts(given: int | Sequence[int]) -> tuple[int, ...]:
    return (given,) if isinstance(given, int) else tuple(given)


def _rules(path: Path, data: Mapping[str, Any]) -> Rules:
    patch = path.parent / data["patch"]
    if not patch.is_file():
        raise bad_input(f"{path} names {patch.name}, which is not there.", "Correct the file.")
    hits = {name: _counts(counts) for name, counts in data["hits"].items()}
    known = [name for name, _ in split_rules(patch.read_text(encoding="utf-8"))[1]]
    for name in hits:
        if name not in known:
            raise bad_input(f"{path}: {patch.name} has no rule {name}.", f"Its rules: {', '.join(known)}.")
    return Rules(patch, data["file"], hits)


def place(path: Path, data: Mapping[str, Any]) -> Place:
    """The place that ``file`` and ``after`` (or ``before``) in ``data``, a part of the file ``path``, say.

    Raises:
        Failure: bad-input, when it has neither or both, or no regular expression.
    """
    after = "after" in data
    if after == ("before" in data):
        raise bad_input(f"{path}: an insertion in {data['file']} needs either after or before.", _FORMAT)
    return Place(data["file"], _pattern(path, data["after" if after else "before"]), after)


def _whole_lines(text: str) -> str:
    return text if text.endswith("\n") else f"{text}\n"


def _edit(path: Path, data: Mapping[str, Any]) -> Edit:
    already = _pattern(path, data["already"]) if "already" in data else None
    return Edit(data["file"], _pattern(path, data["pattern"]), data["replacement"], _counts(data["count"]), already)


def _pattern(path: Path, text: str) -> re.Pattern[str]:
    try:
        return re.compile(text, re.MULTILINE)
    except re.error as error:
        raise bad_input(f"{path}: {text!r} is no regular expression ({error}).", "Correct the file.") from error


def _measure(data: Mapping[str, Any]) -> Measure:
    return Measure(
        workload=data["workload"],
        parameters={key: str(value) for key, value in data.get("parameters", {}).items()},
        lines=tuple(data.get("lines", ())),
        counters=tuple(data.get("counters", TRANSFERS)),
        reduction=float(data["reduction"]) if "reduction" in data else None,
        effect=data.get("effect", ""),
        over=tuple(data.get("over", ())),
    )


def load_fixes(folder: Path, options: Place) -> dict[str, Piece]:
    """Fixes and libraries in ``folder`` (kernels/<source>/pk) by name: libraries first, then fixes by their number.

    Their options are declared at ``options``.

    Raises:
        Failure: bad-input for a broken file, a name given twice or one that needs or excludes an unknown one.
    """
    loaded = [load_fix(path, options) for path in sorted(folder.glob("*/fix.toml"))]
    known: dict[str, Piece] = {}
    for piece in sorted(loaded, key=lambda one: (one.number or 0, one.name)):
        if piece.name in known or piece.name in ("stock", "pk"):
            raise bad_input(f"{piece.folder / 'fix.toml'}: the name {piece.name} is taken.", "Give it another.")
        known[piece.name] = piece
    for piece in loaded:
        for other in (*piece.needs, *piece.conflicts, *(piece.measure.over if piece.measure else ())):
            if other not in known:
                raise bad_input(f"{piece.folder / 'fix.toml'} names {other}, which is no fix.", f"Known: {', '.join(known)}.")
    return {name: _selecting(piece, known) for name, piece in known.items()}


def _selecting(piece: Piece, known: Mapping[str, Piece]) -> Piece:
    """``piece`` with an option that selects those of what it needs."""
    assert piece.option is not None
    needed = [option.symbol for name in piece.needs if (option := known[name].option)]
    return replace(piece, option=replace(piece.option, selects=(*needed, *piece.option.selects)))


def choose(known: Mapping[str, Piece], names: Iterable[str], source: str) -> tuple[Piece, ...]:
    """The fixes ``names`` and what they need, in an order in which they apply.

    ``stock`` is none, ``pk`` every numbered one, ``pk-FIX`` every numbered one but FIX.

    Raises:
        Failure: bad-input for an unknown name, with the known ones, for fixes that exclude each other, or where another fix needs
            one that is left out.
    """
    named = [name for name in names if name]
    numbered = [name for name, piece in known.items() if piece.number is not None]
    wanted: list[str] = []
    left_out: set[str] = set()
    for name in named:
        if name == "pk" and numbered:
            wanted += numbered
        elif name in known:
            wanted.append(name)
        elif name.startswith(WITHOUT) and (without := name.removeprefix(WITHOUT)) in numbered:
            wanted += [one for one in numbered if one != without]
            left_out.add(without)
        elif name != "stock":
            raise bad_input(
                f"{source} has no fix {name}.",
                f"Use stock, pk, pk-FIX or fixes of {source}: {', '.join(numbered) or 'none yet'}.",
            )
    if "stock" in named and wanted:
        raise bad_input(f"stock and {', '.join(sorted(set(wanted)))} exclude each other.", "Name one or the other.")
    chosen: dict[str, Piece] = {}

    def add(name: str, asked_by: tuple[str, ...]) -> None:
        if name in asked_by:
            raise bad_input(f"The fixes {', '.join(asked_by)} of {source} need each other in a circle.", "Correct their needs.")
        for needed in known[name].needs:
            add(needed, (*asked_by, name))
        chosen.setdefault(name, known[name])

    for name in sorted(set(wanted), key=list(known).index):
        add(name, ())
    for piece in chosen.values():
        for other in sorted((left_out - set(wanted)).intersection(piece.needs)):
            raise bad_input(f"The fix {piece.name} of {source} needs {other}.", f"Leave {piece.name} out too, or keep {other}.")
        for other in piece.conflicts:
            if other in chosen:
                raise bad_input(f"The fixes {piece.name} and {other} of {source} exclude each other.", "Choose one of them.")
    return tuple(chosen.values())


def split_rules(text: str) -> tuple[str, list[tuple[str, str]]]:
    """A semantic patch in parts: what stands before the first rule, then (name, text) of each rule; "" is a rule without a name.

    A rule starts with a line ``@name ...@`` or ``@@`` and has its metavariables up to the next ``@@``.
    """
    preamble: list[str] = []
    rules: list[tuple[str, list[str]]] = []
    declaring = False
    for line in text.splitlines(keepends=True):
        if declaring:
            declaring = not line.rstrip().endswith("@@")
        elif line.startswith("@"):
            header = re.match(r"@\s*(?!script:)(\w*)[^@]*@", line)
            script = re.match(r"@\s*script:\w+\s*(\w*)", line)
            name = header[1] if header else script[1] if script else ""
            rules.append(("" if name in ("depends", "expression") else name, []))
            declaring = not line[header.end() if header else 1 :].rstrip().endswith("@@")
        (rules[-1][1] if rules else preamble).append(line)
    return "".join(preamble), [(name, "".join(lines)) for name, lines in rules]
