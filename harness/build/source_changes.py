# SPDX-License-Identifier: BSD-3-Clause
"""Pieces and fixes (`harness.spec.fixes`) applied to a kernel's source.

A change that does not find exactly what it was written for stops with a sentence that says which, where and what was there.
"""

import hashlib
import re
import shutil
import subprocess
import tempfile
import textwrap
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from common.outcome import bad_input
from common.paths import cache_root
from harness.spec.fixes import Edit, Piece, Place, Rules, split_rules

_OPTIONS = ("--very-quiet", "--no-includes")
_WRONG_TREE = "The source is not what it was made for, or another change was there first."


def apply(piece: Piece, tree: Path) -> None:
    """Change ``tree`` (which needs no more than the files that the piece touches). A failure leaves it half changed.

    Raises:
        Failure: bad-input, naming the piece, the rule and the file; also when the tree has the piece already.
    """
    _refuse_repeated(piece, tree)
    if piece.files:
        shutil.copytree(piece.files, tree, dirs_exist_ok=True)
    for rules in piece.rules:
        path = _file(piece, tree, rules.file)
        path.write_bytes(_patched(piece, rules, path.read_bytes()))
    for insert in piece.inserts:
        _insert(piece, insert.place, insert.text, tree)
    if piece.option:
        _insert(piece, piece.option.place, option_text(piece), tree)
    for edit in piece.edits:
        _do_edit(piece, edit, _file(piece, tree, edit.file))


def option_text(piece: Piece) -> str:
    """How Kconfig declares the option of a fix; without a number, for the fixes that select it only."""
    option = piece.option
    assert option is not None
    prompt = f' "{piece.name} (MOSBENCH fix {piece.number})"' if piece.number is not None else ""
    about = textwrap.wrap(f"{piece.summary}.", 70, break_long_words=False)
    lines = [
        f"config {option.symbol}",
        f"\tbool{prompt}",
        *([f"\tdepends on {option.depends}"] if option.depends else []),
        *(f"\tselect {symbol}" for symbol in option.selects),
        "\thelp",
        *(f"\t  {line}" for line in about),
        "",
        f"\t  More: pk/{piece.folder.name} in mosbench-gem5's folder of this kernel.",
    ]
    text = "".join(f"{line}\n" for line in lines)
    return f"\n{text}" if option.place.after else f"{text}\n"


def _refuse_repeated(piece: Piece, tree: Path) -> None:
    there = [name for name in piece.new_files if (tree / name).exists()]
    signs = [(one.place.file, one.text) for one in piece.inserts]
    signs += [(piece.option.place.file, f"\nconfig {piece.option.symbol}\n")] if piece.option else []
    there += [name for name, text in signs if (tree / name).is_file() and text in _read(tree / name)]
    if there:
        raise bad_input(f"The source already has the {piece.title}: see {there[0]}.", "Give the unchanged source.")


def _file(piece: Piece, tree: Path, name: str) -> Path:
    path = tree / name
    if not path.is_file():
        raise bad_input(f"The {piece.title} changes {name}, which the source does not have.", _WRONG_TREE)
    return path


def _read(path: Path) -> str:
    # Old sources have comments in Latin-1: every byte must come back as it was.
    return path.read_bytes().decode("latin-1")


def _write(path: Path, text: str) -> None:
    path.write_bytes(text.encode("latin-1"))


def _insert(piece: Piece, place: Place, text: str, tree: Path) -> None:
    path = _file(piece, tree, place.file)
    lines = _read(path).splitlines(keepends=True)
    found = [i for i, line in enumerate(lines) if place.line.fullmatch(line.rstrip("\n"))]
    if len(found) != 1:
        raise bad_input(
            f"The {piece.title} inserts at the line {place.line.pattern!r} of {place.file}, which has it {len(found)} times.",
            _WRONG_TREE,
        )
    lines.insert(found[0] + place.after, text)
    _write(path, "".join(lines))


def _do_edit(piece: Piece, edit: Edit, path: Path) -> None:
    text = _read(path)
    if edit.already and edit.already.search(text) and not edit.pattern.search(text):
        return
    changed, count = edit.pattern.subn(edit.replacement, text)
    if count not in edit.counts:
        raise bad_input(
            f"The {piece.title} replaces {edit.pattern.pattern!r} in {edit.file}, which is there {count} times and not "
            f"{_numbers(edit.counts)}.",
            _WRONG_TREE,
        )
    _write(path, changed)


def _numbers(counts: Sequence[int]) -> str:
    return " or ".join(map(str, counts))


def _patched(piece: Piece, rules: Rules, content: bytes) -> bytes:
    """The file's new content. What rule k changed is what the first k rules change beyond the first k-1."""
    text = rules.patch.read_text(encoding="utf-8")
    key = hashlib.sha256(
        b"\0".join([_spatch_version().encode(), text.encode(), repr(sorted(rules.hits.items())).encode(), content])
    )
    # Neither _OPTIONS nor split_rules is in the key: adding them builds all kernels again, in whose keys this module is. Who
    # changes one of the two adds both.
    memory = cache_root() / "spatch" / key.hexdigest()
    if memory.is_file():
        return memory.read_bytes()
    preamble, parts = split_rules(text)
    prefixes = [preamble + "".join(part for _, part in parts[: count + 1]) for count in range(len(parts))]
    suffix = Path(rules.file).suffix
    with tempfile.TemporaryDirectory(prefix="mosbench-fix-") as name, ThreadPoolExecutor(2) as pool:
        folder = Path(name)
        states = [folder / f"before{suffix}", *(folder / f"{number}{suffix}" for number in range(len(parts)))]
        for state in states:
            state.write_bytes(content)
        list(pool.map(lambda both: _spatch(piece, rules, *both), zip(prefixes, states[1:], strict=True)))
        for (rule, _), before, after in zip(parts, states, states[1:], strict=False):
            _check_hits(piece, rules, rule, _places(before, after))
        changed = states[-1].read_bytes()
    memory.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=memory.parent, delete=False) as handle:
        handle.write(changed)
    Path(handle.name).rename(memory)
    return changed


def _check_hits(piece: Piece, rules: Rules, rule: str, places: int) -> None:
    allowed = rules.hits.get(rule, (0,))
    if places not in allowed:
        name = f"rule {rule}" if rule else "a rule without a name"
        raise bad_input(
            f"The {piece.title} does not apply: {name} of {rules.patch.name} changes {places} places of {rules.file}, "
            f"not {_numbers(allowed)}.",
            _WRONG_TREE,
        )


def _spatch(piece: Piece, rules: Rules, text: str, file: Path) -> None:
    patch = file.with_name(f"{file.stem}.cocci")
    patch.write_text(text, encoding="utf-8")
    done = _run_spatch(*_OPTIONS, "--sp-file", str(patch), "--in-place", str(file))
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line.strip()]
        raise bad_input(
            f"The {piece.title} does not apply: spatch refuses {rules.patch.name} on {rules.file} ({'; '.join(said[-3:])}).",
            f"Correct {rules.patch}.",
        )


def _places(before: Path, after: Path) -> int:
    """Number of runs of lines in which two files differ."""
    done = subprocess.run(["diff", "--text", "--unified=0", before, after], capture_output=True, check=False)
    if done.returncode > 1:
        raise bad_input("diff does not run.", "Install it: apt-get install diffutils")
    return sum(line.startswith(b"@@ ") for line in done.stdout.splitlines())


@cache
def _spatch_version() -> str:
    return _run_spatch("--version").stdout.partition("\n")[0]


def _run_spatch(*arguments: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(["spatch", *arguments], capture_output=True, text=True, check=False, errors="replace")
    except OSError as error:
        raise bad_input("spatch, which applies kernel fixes, does not run.", "Install: apt-get install coccinelle") from error


def partial_tree(tree: Path, pieces: Iterable[Piece], folder: Path) -> None:
    """Copy into ``folder`` those files of ``tree`` that ``pieces`` touch; new files that it has already come too."""
    for piece in pieces:
        for name in (*piece.touched, *piece.new_files):
            if (tree / name).is_file() and not (folder / name).exists():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(tree / name, folder / name)


def difference(before: Path, after: Path) -> str:
    """What `diff` prints for two trees a/ and b/ beside each other, as `patch -p1` reads it."""
    done = subprocess.run(
        ["diff", "--unified", "--recursive", "--new-file", "--text", "--", before.name, after.name],
        cwd=before.parent,
        capture_output=True,
        check=False,
    )
    if done.returncode > 1:
        raise bad_input(f"diff failed ({done.stderr.decode(errors='replace').strip()}).", "See the message.")
    lines = done.stdout.decode("latin-1").splitlines(keepends=True)
    # Without times and command lines: the same change is the same text.
    kept = (re.sub(r"^((?:---|\+\+\+) [^\t\n]+)\t.*$", r"\1", line) for line in lines if not line.startswith("diff --unified"))
    return "".join(kept)
