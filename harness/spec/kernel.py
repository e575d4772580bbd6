# SPDX-License-Identifier: BSD-3-Clause
"""Kernel sources, as data: what kernels/<source>/kernel.toml says of where a source comes from, how it is built and booted."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common import paths
from common.once import remembered
from common.outcome import bad_input
from harness.spec import fixes as changes
from harness.spec.fixes import Piece
from harness.spec.machine_schema import schema

_FORMAT = "kernels/README.md describes the format."


@dataclass(frozen=True)
class Boot:
    """How a kernel is booted by one engine, or by all."""

    words: str
    """On the kernel's command line, beside what every kernel gets."""
    seconds: float | None
    """What a boot on 48 cores may take on two processors of the host; None where nothing is said."""


@dataclass(frozen=True)
class Recipe:
    """kernels/<name>/kernel.toml (see kernels/README.md)."""

    name: str
    folder: Path
    summary: str
    version: str
    kind: str
    package: str
    tarball: Path | None
    url: str
    checksums: str
    obtain: str
    root: str
    """Where the kernel finds the boot disk's file system: what follows root= on its command line."""
    boot: Boot
    boot_of_engine: Mapping[str, Boot]
    compiler: str
    compiler_versions: tuple[str, ...]
    compiler_flags: tuple[str, ...]
    base: str
    fragment: Path
    checking: tuple[str, ...]
    """Configuration lines of a kernel that checks itself, beside those that every such kernel gets."""
    targets: tuple[str, ...]
    bzimage: str
    tools: Mapping[str, str]
    headers: Mapping[str, str]
    drivers: tuple[str, ...]
    """Of parts of the machine that not every engine has (machines/schema.toml)."""
    pieces: tuple[Piece, ...]
    fixes: Mapping[str, Piece]

    def boot_with(self, engine: str) -> Boot:
        """What ``engine`` needs beside `boot`."""
        return self.boot_of_engine.get(engine, Boot("", None))


@remembered
def sources() -> list[str]:
    """Names of the kernel sources that have a recipe."""
    return sorted(path.parent.name for path in paths.KERNELS.glob("*/kernel.toml"))


@remembered
def default_source() -> str:
    """The source that is meant where none is named: the one whose kernel.toml says ``default = true``.

    Raises:
        Failure: bad-input, when it is not exactly one.
    """
    marked = _marked("default")
    if len(marked) != 1:
        raise bad_input(
            f"{paths.KERNELS} has {len(marked)} kernel sources with default = true: {', '.join(marked) or 'none'}.",
            "One kernel.toml must say it.",
        )
    return marked[0]


def paper_source() -> str:
    """The source of the kernel that the paper is about, ``paper = true``; the default one where there is none."""
    return next(iter(_marked("paper")), None) or default_source()


def source_named(text: str) -> str:
    """A source's name as the user gives it: the name, or `default`. For argparse, which has the known ones as choices."""
    return default_source() if text == "default" else text


def _marked(key: str) -> list[str]:
    return [source for source in sources() if _read(paths.KERNELS / source / "kernel.toml").get(key, False) is True]


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise bad_input(f"{path} is not valid TOML ({error}).", "Correct the file.") from error


@remembered
def load_recipe(source: str) -> Recipe:
    """The recipe of ``source``.

    Raises:
        Failure: bad-input for an unknown source, a missing key, an unknown kind or driver, or a piece without its file.
    """
    if source not in sources():
        raise bad_input(f"There is no kernel {source}.", f"Known: {', '.join(sources())}.")
    folder = paths.KERNELS / source
    path = folder / "kernel.toml"
    data = _read(path)
    try:
        origin, boot, make = data["source"], data["boot"], data["build"]
        kind = origin["kind"]
        if kind not in ("debian-package", "kernel.org"):
            raise bad_input(f"{path}: source.kind is {kind!r}.", "Use debian-package or kernel.org.")
        return Recipe(
            name=source,
            folder=folder,
            summary=data["summary"],
            version=data["version"],
            kind=kind,
            package=origin["package"] if kind == "debian-package" else "",
            tarball=Path(origin["tarball"]) if kind == "debian-package" else None,
            url=origin["url"] if kind == "kernel.org" else "",
            checksums=origin["checksums"] if kind == "kernel.org" else "",
            obtain=origin["obtain"] if kind == "kernel.org" else "",
            root=boot["root"],
            boot=Boot(boot["words"], None),
            boot_of_engine={engine: _boot(table) for engine, table in boot.items() if isinstance(table, dict)},
            compiler=make["compiler"],
            compiler_versions=tuple(make.get("compiler_versions", ())),
            compiler_flags=tuple(make["compiler_flags"]),
            base=make["base"],
            fragment=folder / make["fragment"],
            checking=tuple(make.get("checking", ())),
            targets=tuple(make["targets"]),
            bzimage=make["bzimage"],
            tools=dict(make["tools"]),
            headers=dict(make["headers"]),
            drivers=_drivers(path, data.get("drivers", [])),
            pieces=tuple(changes.load_piece(folder / name / "piece.toml") for name in data.get("pieces", ())),
            fixes=_fixes(path, data),
        )
    except KeyError as error:
        raise bad_input(f"{path} lacks the key {error.args[0]}.", _FORMAT) from error


def _drivers(path: Path, named: Sequence[str]) -> tuple[str, ...]:
    for name in named:
        if name not in schema().parts:
            raise bad_input(f"{path}: drivers has {name}, which is no part of a machine.", f"Known: {', '.join(schema().parts)}.")
    return tuple(named)


def _boot(data: Mapping[str, Any]) -> Boot:
    return Boot(data.get("words", ""), float(data["seconds"]) if "seconds" in data else None)


def _fixes(path: Path, data: Mapping[str, Any]) -> Mapping[str, Piece]:
    folder = path.parent / "pk"
    if not any(folder.glob("*/fix.toml")):
        return {}
    return changes.load_fixes(folder, changes.place(path, data["options"]))


def chosen_fixes(recipe: Recipe, fixes: Sequence[str]) -> tuple[Piece, ...]:
    """The fixes that ``fixes`` names and what they need, in the order in which they apply (see `harness.spec.fixes.choose`)."""
    return changes.choose(recipe.fixes, fixes, recipe.name)
