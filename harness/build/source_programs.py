# SPDX-License-Identifier: BSD-3-Clause
"""Programs of a workload that are built from a Debian source package, with options that Debian's own build does not have.

Each folder ``from-source/<name>`` of a workload has ``recipe.toml``, and in ``tree/`` files that are put into the source:

    package = "exim4"                        # Debian's name of the source package
    version = "4.96"                         # the upstream version that the recipe is for, or its first numbers
    commands = [["make", "-j{jobs}", "CC={cc}"]]
    [files]
    "usr/sbin/exim4" = "build/exim"          # place in the guest = file of the built tree
    [[edits]]                                # any number
    file = "src/header.h"
    pattern = "^#define LOG2 4$"             # a regular expression, of lines
    replacement = "#define LOG2 10"          # of its one match

In commands ``{cc}`` is the C compiler and ``{jobs}`` the number of processors. They run in the tree, one after another.
"""

import json
import os
import re
import shutil
import tomllib
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from common.cache import cached, hash_code, hash_files
from common.outcome import Failure, bad_input
from common.progress import run_logged
from harness.build import compiler_cache, debian_source
from harness.build.compiler import version_line
from harness.build.ext2 import Entry

FOLDER = "from-source"
_RECIPE = "recipe.toml"
_TREE = "tree"
_KEPT = "contents"
_COMPILER = "gcc"
_PREFIX = "/source"
"""The build folder's name in debugging information, before the package's."""
_FIXED = {"LC_ALL": "C", "TZ": "UTC", "SOURCE_DATE_EPOCH": "1704067200"}
_PASSED = ("PATH", "HOME", "TMPDIR")


@dataclass(frozen=True)
class Edit:
    """One change of a line of a file of the source."""

    file: str
    pattern: str
    replacement: str


@dataclass(frozen=True)
class Recipe:
    """A recipe.toml."""

    path: Path
    package: str
    version: str
    commands: tuple[tuple[str, ...], ...]
    files: dict[PurePosixPath, str]
    edits: tuple[Edit, ...]


def recipes(folder: Path) -> list[Recipe]:
    """Those of the workload in ``folder``, by name.

    Raises:
        Failure: bad-input, naming the recipe and what is wrong with it.
    """
    return [_load(path / _RECIPE) for path in sorted((folder / FOLDER).glob("*/"))]


def key(folder: Path) -> dict[str, object]:
    """What the programs of the workload in ``folder`` follow from; empty without any."""
    return {one.path.parent.name: _inputs(one) for one in recipes(folder)}


def add(tree: dict[PurePosixPath, Entry], folder: Path) -> list[str]:
    """Build the programs of the workload in ``folder``, unless they are in the cache, and add them to ``tree``.

    Returns package and version of each, a line each.

    Raises:
        Failure: bad-input, when a source is not to be had, an edit finds no place, or a build fails; its sentence names the log.
    """
    sources = []
    for recipe in recipes(folder):
        name = f"{recipe.package}-{recipe.path.parent.name}"
        made = cached("source-programs", name, _inputs(recipe), partial(_build, recipe))
        for number, place in enumerate(sorted(recipe.files)):
            tree[place] = Entry.file(made / _KEPT / str(number), 0o755)
        sources.append(f"{recipe.package} {json.loads((made / 'source.json').read_text())['version']} (built from its source)")
    return sources


def _inputs(recipe: Recipe) -> dict[str, object]:
    return {
        "code": hash_code(Path(__file__), compiler_cache),
        "source": debian_source.inputs(recipe.package, recipe.version),
        "recipe": hash_files(recipe.path.parent),
        "compiler": version_line(_COMPILER),
    }


def _build(recipe: Recipe, folder: Path) -> None:
    source = debian_source.source(recipe.package, recipe.version)
    tree, log = folder / "building", folder / "build.log"
    shutil.copytree(source, tree, symlinks=True)
    if (ours := recipe.path.with_name(_TREE)).is_dir():
        shutil.copytree(ours, tree, dirs_exist_ok=True)
    for edit in recipe.edits:
        _edit(recipe, edit, tree)
    compiler = compiler_cache.wrapper(_COMPILER, folder, tree, f"{_PREFIX}/{recipe.package}-{recipe.version}")
    kept = {name: value for name in _PASSED if (value := os.environ.get(name)) is not None}
    environment = {**kept, **_FIXED, **compiler_cache.settings(tree)}
    words = {"cc": str(compiler), "jobs": str(len(os.sched_getaffinity(0)))}
    for command in recipe.commands:
        run_logged(
            f"Building {recipe.package} {recipe.version}", [word.format(**words) for word in command], log, cwd=tree,
            environment=environment, cure=f"See {log}.",
        )  # fmt: skip
    (folder / _KEPT).mkdir()
    for number, place in enumerate(sorted(recipe.files)):
        made = tree / recipe.files[place]
        if not made.is_file():
            raise bad_input(f"{recipe.path}: the build did not make {recipe.files[place]}.", f"Correct it; see {log}.")
        shutil.move(made, folder / _KEPT / str(number))
    version = (source.parent / debian_source.VERSION_FILE).read_text().strip()
    (folder / "source.json").write_text(json.dumps({"package": recipe.package, "version": version}) + "\n")
    shutil.rmtree(tree)
    compiler.unlink()


def _edit(recipe: Recipe, edit: Edit, tree: Path) -> None:
    path = tree / edit.file
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    changed, count = re.subn(edit.pattern, edit.replacement, text, flags=re.MULTILINE)
    if count != 1:
        what = (
            f"{recipe.path}: {edit.pattern!r} is {count} times in {edit.file} of {recipe.package} {recipe.version}, and not once."
        )
        raise bad_input(what, "Correct the recipe.")
    path.write_text(changed, encoding="utf-8")


def _load(path: Path) -> Recipe:
    try:
        data: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
        known = {"package", "version", "commands", "files", "edits"}
        if unknown := sorted(data.keys() - known):
            raise _wrong(path, f"{unknown[0]} is no key of a recipe")
        commands = tuple(tuple(command) for command in data["commands"])
        files = {PurePosixPath(place): made for place, made in data["files"].items()}
        edits = tuple(Edit(one["file"], one["pattern"], one["replacement"]) for one in data.get("edits", []))
        recipe = Recipe(path, data["package"], data["version"], commands, files, edits)
        words = [word for command in commands for word in command]
        if not files or not all(isinstance(word, str) for word in (recipe.package, recipe.version, *words, *files.values())):
            raise _wrong(path, "names, versions and words of commands are strings, and one file at least is kept")
        for word in words:
            word.format(cc="", jobs="")
        for edit in edits:
            re.compile(edit.pattern)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise bad_input(f"{path} cannot be read as TOML: {error}.", "Correct the file.") from error
    except KeyError as error:
        raise _wrong(path, f"the key {error.args[0]} is missing, or {{{error.args[0]}}} stands for nothing") from error
    except (AttributeError, TypeError, ValueError, IndexError, re.error) as error:
        raise _wrong(path, str(error)) from error
    return recipe


def _wrong(path: Path, why: str) -> Failure:
    return bad_input(f"{path}: {why}.", "docs/guides/workload.md says what a recipe has.")
