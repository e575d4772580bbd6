# SPDX-License-Identifier: BSD-3-Clause
"""Does every kernel fix apply to every source that is there, alone and with all others, once, and change nothing when it is off?

A fix applies when each rule of its semantic patches changes the expected number of places and each insertion finds its one line.
Off, the objects must be those of the unfixed source: both are compiled with a constant __LINE__, so that lines which moved do not
show, and compared without their debugging information, byte for byte.
"""

import argparse
import os
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table

from common.outcome import Failure
from common.progress import logged_status, run_logged, step
from common.terminal import console
from harness.build import build_place, host_packages, kernel_configuration, kernel_source, kernel_tree
from harness.build import source_changes as changes
from harness.checks.registry import Check
from harness.checks.verify.measuring import add_source_option, scratch
from harness.spec import kernel as kernels
from harness.spec.fixes import Piece
from harness.spec.kernel import Recipe
from harness.spec.point import Point

NAME = "fixes-apply"
SUMMARY = "kernel fixes: every rule hits, a fixed source is refused, off leaves the objects as they were"
QUICK = ("--source", "default", "--no-objects")
BESIDES = (
    "No guest runs. The fixes are applied to the files that they touch, which takes seconds; without --no-objects these files "
    "are compiled twice, after what a kernel's build needs first, and how long that takes is unknown."
)

_LINE_FLAGS = ("-U__LINE__", "-D__LINE__=0", "-Wno-builtin-macro-redefined")
# Compiled besides the files that a fix touches, for what it changes in headers.
_WITNESSES = ("fs/namei.o", "fs/open.o", "mm/memory.o", "mm/page_alloc.o", "net/core/dev.o", "net/ipv4/tcp.o")


@dataclass(frozen=True)
class Applied:
    """A set of fixes on a source: rules and places that they changed, or why it did not work (``fault``)."""

    source: str
    fixes: str
    rules: int
    inserts: int
    fault: str


@dataclass(frozen=True)
class Compared:
    """An object with all fixes in the source and off: ``state`` is same, different, or not built (not of this configuration)."""

    source: str
    name: str
    state: str


def configure(parser: argparse.ArgumentParser) -> None:
    add_source_option(parser, "only this source")
    parser.add_argument("--fix", help="only this fix, alone (and not all together)")
    parser.add_argument("--no-objects", action="store_true", help="do not compile and compare objects")


def planned(_: argparse.Namespace) -> list[Point]:
    """No point."""
    return []


def run(arguments: argparse.Namespace) -> Check:
    """Apply, refuse, compile and compare; one table of fixes and one of objects that differ."""
    host_packages.require(*host_packages.of_groups("kernel"))
    applied: list[Applied] = []
    compared: list[Compared] = []
    for source in [arguments.source] if arguments.source else kernels.sources():
        recipe = kernels.load_recipe(source)
        if not recipe.fixes:
            print(f"{source} has no fixes.")
            continue
        try:
            origin, _ = kernel_source.find_source(recipe)
        except Failure as failure:
            if arguments.source:
                raise
            print(f"Left out: {failure.what}")
            continue
        with scratch(NAME) as folder:
            here = list(try_all(recipe, origin, arguments.fix, folder))
            applied += here
            if not arguments.no_objects and not any(one.fault for one in here):
                chosen = kernels.chosen_fixes(recipe, (arguments.fix or "pk",))
                compared += compare_objects(recipe, origin, chosen, folder)
    console().print(_table(applied))
    for one in compared:
        if one.state != "same":
            print(f"{one.source}: {one.name} is {one.state}")
    return judge(applied, compared, not arguments.no_objects)


def judge(applied: Sequence[Applied], compared: Sequence[Compared], with_objects: bool) -> Check:
    """Everything applied, no object differs, and there was something to judge."""
    broken = [one for one in applied if one.fault]
    same, different = (sum(one.state == state for one in compared) for state in ("same", "different"))
    objects = f"{same} objects the same with the fixes off, {different} different" if with_objects else "objects not compared"
    figure = (
        f"{NAME}: {len(applied) - len(broken)} of {len(applied)} sets of fixes apply and are refused a second time, {objects}; "
        "wanted: all, and none different"
    )
    return Check(not broken and not different and (same > 0 or not with_objects), figure, len(applied))


def try_all(recipe: Recipe, origin: Path, only: str | None, folder: Path) -> Iterable[Applied]:
    """Each fix alone (with what it needs), then all together, on copies of the files that they touch."""
    base = folder / "base"
    base.mkdir()
    with kernel_source.readable(recipe, origin) as tree:
        changes.partial_tree(tree, [*recipe.pieces, *recipe.fixes.values()], base)
    for piece in recipe.pieces:
        changes.apply(piece, base)
    sets = [only] if only else [*recipe.fixes, "pk"]
    for name in sets:
        chosen = kernels.chosen_fixes(recipe, (name,))
        with step(f"Applying {name} to {recipe.name}"):
            yield try_set(recipe.name, "all together" if name == "pk" else name, chosen, base, folder / "work")


def try_set(source: str, title: str, chosen: Sequence[Piece], base: Path, work: Path) -> Applied:
    """Apply ``chosen`` to a copy of ``base``, then each of them again, which must be refused."""
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(base, work)
    rules = sum(len(rule.hits) for piece in chosen for rule in piece.rules)
    inserts = sum(len(piece.inserts) + (piece.option is not None) for piece in chosen)
    try:
        for piece in chosen:
            changes.apply(piece, work)
    except Failure as failure:
        return Applied(source, title, rules, inserts, failure.what)
    for piece in chosen:
        try:
            changes.apply(piece, work)
        except Failure:
            continue
        return Applied(source, title, rules, inserts, f"The {piece.title} applies to a source that has it already.")
    return Applied(source, title, rules, inserts, "")


def compare_objects(recipe: Recipe, origin: Path, chosen: Sequence[Piece], folder: Path) -> list[Compared]:
    """Objects of what ``chosen`` touches, from the unfixed source and from the fixed one with every option off."""
    touched = dict.fromkeys(name for piece in chosen for name in piece.touched)
    objects = [str(Path(name).with_suffix(".o")) for name in touched if name.endswith(".c")]
    objects += [name for name in _WITNESSES if name not in objects]
    with build_place.build_place(folder) as place:
        before, after = _contents(recipe, origin, chosen, objects, place / "tree", folder)
    return [Compared(recipe.name, name, _state(before.get(name), after.get(name))) for name in objects]


def _contents(
    recipe: Recipe, origin: Path, chosen: Sequence[Piece], objects: Sequence[str], tree: Path, folder: Path
) -> list[dict[str, bytes]]:
    """The ``objects`` compiled in the new folder ``tree``, without the fixes and then with them off; ``folder`` has the log."""
    log = folder / "build.log"
    kernel_tree.changed_tree(recipe, (), origin, tree, log)
    _, make, environment = kernel_tree.build_command(recipe, folder, tree, _LINE_FLAGS)
    off = [f"# CONFIG_{piece.option.symbol} is not set" for piece in chosen if piece.option]
    contents: list[dict[str, bytes]] = []
    for title in ("without the fixes", "with the fixes off"):
        if contents:
            for piece in chosen:
                changes.apply(piece, tree)
        kernel_configuration.configure(recipe, (), off if contents else (), tree, make, environment, log)
        with step(f"Compiling {len(objects)} objects of {recipe.name} {title}") as current:
            run_logged("Preparing the build", [*make, _jobs(), "prepare"], log, cwd=tree, environment=environment)
            # Files that are not of this configuration may not compile: -k goes on, and what is missing is counted as not built.
            command = [*make, _jobs(), "-k", *objects]
            logged_status(current, command, log, cwd=tree, environment=environment)
        contents.append({name: _code(tree / name) for name in objects if (tree / name).is_file()})
        for name in objects:
            (tree / name).unlink(missing_ok=True)
    return contents


def _jobs() -> str:
    return f"-j{len(os.sched_getaffinity(0))}"


def _state(before: bytes | None, after: bytes | None) -> str:
    if before is None and after is None:
        return "not built"
    return "same" if before == after else "different"


def _code(path: Path) -> bytes:
    """An object's bytes without debugging information."""
    stripped = path.with_suffix(".stripped")
    subprocess.run(["objcopy", "--strip-debug", path, stripped], check=True, capture_output=True)
    content = stripped.read_bytes()
    stripped.unlink()
    return content


def _table(applied: Sequence[Applied]) -> Table:
    table = Table("source", "fixes", "rules", "insertions", "result", title="Fixes on their sources", title_justify="left")
    for one in applied:
        result = f"[red]{one.fault}[/]" if one.fault else "applies; refused a second time"
        table.add_row(one.source, one.fixes, str(one.rules), str(one.inserts), result)
    return table
