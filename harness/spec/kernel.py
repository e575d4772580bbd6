# SPDX-License-Identifier: BSD-3-Clause
"""Kernel sources, as data: what kernels/<source>/kernel.toml says of where a source comes from, how it is built and booted."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common import paths
from common.outcome import bad_input
from harness.spec import fixes as changes
from harness.spec.fixes import Piece


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
    boot: str
    compiler: str
    compiler_versions: tuple[str, ...]
    compiler_flags: tuple[str, ...]
    base: str
    fragment: Path
    targets: tuple[str, ...]
    bzimage: str
    tools: Mapping[str, str]
    headers: Mapping[str, str]
    pieces: tuple[Piece, ...]
    fixes: Mapping[str, Piece]


def sources() -> list[str]:
    """Names of the kernel sources that have a recipe."""
    return sorted(path.parent.name for path in paths.KERNELS.glob("*/kernel.toml"))


def load_recipe(source: str) -> Recipe:
    """The recipe of ``source``.

    Raises:
        Failure: bad-input for an unknown source, a missing key, an unknown kind or a piece without its file.
    """
    if source not in sources():
        raise bad_input(f"There is no kernel {source}.", f"Known: {', '.join(sources())}.")
    folder = paths.KERNELS / source
    path = folder / "kernel.toml"
    try:
        data: dict[str, Any] = tomllib.loads(path.read_text())
        origin, make = data["source"], data["build"]
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
            boot=data["boot"]["words"],
            compiler=make["compiler"],
            compiler_versions=tuple(make.get("compiler_versions", ())),
            compiler_flags=tuple(make["compiler_flags"]),
            base=make["base"],
            fragment=folder / make["fragment"],
            targets=tuple(make["targets"]),
            bzimage=make["bzimage"],
            tools=dict(make["tools"]),
            headers=dict(make["headers"]),
            pieces=tuple(changes.load(folder / name / "piece.toml") for name in data.get("pieces", ())),
            fixes=changes.load_fixes(folder / "pk"),
        )
    except tomllib.TOMLDecodeError as error:
        raise bad_input(f"{path} is not valid TOML ({error}).", "Correct the file.") from error
    except KeyError as error:
        raise bad_input(f"{path} lacks the key {error.args[0]}.", "kernels/README.md describes the format.") from error


def chosen_fixes(recipe: Recipe, fixes: Sequence[str]) -> tuple[Piece, ...]:
    """The fixes that ``fixes`` names and what they need, in the order in which they apply (see `harness.build.fixes.choose`)."""
    return changes.choose(recipe.fixes, fixes, recipe.name)
