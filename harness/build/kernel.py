# SPDX-License-Identifier: BSD-3-Clause
"""Kernels: from a recipe (kernels/<source>/kernel.toml) and a set of fixes to vmlinux and bzImage in the cache."""

import hashlib
import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from common.cache import cached, hash_code, hash_files
from common.outcome import Failure, Outcome, bad_input
from harness.build import kernel_configuration, kernel_source, kernel_tree, source_changes
from harness.build.build_place import build_place
from harness.build.compiler import version_line
from harness.build.kernel_configuration import settings
from harness.build.kernel_source import find_source
from harness.spec.fixes import Piece, Place
from harness.spec.kernel import Recipe, chosen_fixes, load_recipe


@dataclass(frozen=True)
class Kernel:
    """A built kernel. ``vmlinux`` has DWARF with sources below `kernel_tree.SOURCE_PREFIX`; ``digest`` is over both files."""

    bzimage: Path
    vmlinux: Path
    release: str
    folder: Path
    digest: str


def build(source: str, fixes: tuple[str, ...] = (), tree: Path | None = None, *, extra_config: tuple[str, ...] = ()) -> Kernel:
    """The kernel ``source`` with ``fixes``, built unless it is in the cache.

    ``tree`` is the user's source (a folder or a tarball, never written to), by default what the settings name. ``extra_config``:
    more configuration lines (a debugging kernel, for checks).

    Raises:
        Failure: bad-input when the source, a tool or a fix is missing or not what the recipe wants, or the build fails.
    """
    recipe = load_recipe(source)
    chosen = chosen_fixes(recipe, fixes)
    origin, identity = find_source(recipe, tree)
    _check_compiler(recipe)
    # Only what this kernel is made from: a change of one fix rebuilds the kernels that have it and no other.
    inputs: dict[str, object] = {
        "code": hash_code(kernel_tree, kernel_configuration, kernel_source, source_changes),
        "compiler": [recipe.compiler, *recipe.compiler_flags, version_line(recipe.compiler)],
        "linker": version_line("ld"),
        "targets": [*recipe.targets, recipe.bzimage],
        "configuration": [recipe.base, *settings(recipe.fragment.read_text()), *extra_config],
        "source": identity,
        "pieces": [[piece.name, piece_digest(piece)] for piece in (*recipe.pieces, *chosen)],
    }
    words = [piece.name for piece in chosen]
    name = "-".join([source, *(words if len(words) < 4 else [f"{len(words)}-fixes"])])
    folder = cached("kernels", name, inputs, lambda building: _build(recipe, chosen, extra_config, origin, building))
    facts = json.loads((folder / "kernel.json").read_text())
    return Kernel(folder / "bzImage", folder / "vmlinux", facts["release"], folder, facts["sha256"])


def piece_digest(piece: Piece) -> str:
    """Hash of what of a piece or a fix its kernel is made from: not of its README, its summary or how it is measured."""
    option = piece.option
    content = [
        [[hash_files(one.patch), one.file, dict(one.hits)] for one in piece.rules],
        [[*_place(one.place), one.text] for one in piece.inserts],
        [[one.file, _text(one.pattern), one.replacement, one.counts, _text(one.already)] for one in piece.edits],
        [*_place(option.place), option.symbol, option.depends, option.selects] if option else [],
        piece.config,
        hash_files(piece.files) if piece.files else "",
    ]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _place(place: Place) -> tuple[str, str, bool]:
    return place.file, _text(place.line), place.after


def _text(pattern: re.Pattern[str] | None) -> str:
    return pattern.pattern if pattern else ""


def _build(recipe: Recipe, fixes: Sequence[Piece], extra_config: Sequence[str], origin: Path, folder: Path) -> None:
    with build_place(folder) as place:
        _build_in(place / "tree", recipe, fixes, extra_config, origin, folder)


def _build_in(
    tree: Path, recipe: Recipe, fixes: Sequence[Piece], extra_config: Sequence[str], origin: Path, folder: Path
) -> None:
    """Build in the new folder ``tree``; the results go to ``folder``."""
    log = folder / "build.log"
    try:
        _check_tools(recipe, fixes)
        version, release = kernel_tree.make_kernel(recipe, fixes, extra_config, origin, tree, folder, log)
    except Failure as failure:
        failure = _with_log_kept(failure, folder, tree, log)
        shutil.rmtree(folder)
        raise failure from None
    facts = {
        "release": release,
        "version": version,
        "source": recipe.name,
        "fixes": [piece.name for piece in fixes],
        "sha256": _digest(folder / "vmlinux", folder / "bzImage"),
    }
    (folder / "kernel.json").write_text(json.dumps(facts, indent=1) + "\n")


def _with_log_kept(failure: Failure, folder: Path, tree: Path, log: Path) -> Failure:
    if not log.exists() or str(log) not in failure.cure:
        return failure
    if "No space left on device" in log.read_text(errors="replace"):
        what = f"{tree.parent} or {folder.parent} has no room for a kernel's build (3 GB)."
        return Failure(Outcome.DISK_FULL, what, "Free space, or set MOSBENCH_CACHE.")
    kept = folder.with_name(f"failed-{folder.name.removeprefix('.building-')}.log")
    shutil.copyfile(log, kept)
    return Failure(failure.outcome, failure.what, failure.cure.replace(str(log), str(kept)))


def _check_compiler(recipe: Recipe) -> None:
    """Refuse a compiler that the recipe does not know, before anything is unpacked."""
    if not recipe.compiler_versions or shutil.which(recipe.compiler) is None:
        return
    asked = subprocess.run([recipe.compiler, "-dumpfullversion"], capture_output=True, text=True, check=True)
    version = asked.stdout.strip()
    if version.partition(".")[0] not in recipe.compiler_versions:
        known = " or ".join(recipe.compiler_versions)
        raise bad_input(
            f"{recipe.name} is built with {recipe.compiler} {known}; this one is {version}.",
            f"Install the package gcc-{recipe.compiler_versions[-1]} of Debian 12 and make it {recipe.compiler}.",
        )


def _check_tools(recipe: Recipe, fixes: Sequence[Piece]) -> None:
    wanted = {**recipe.tools, "ccache": "ccache", **({"spatch": "coccinelle"} if fixes else {})}
    missing = {package for tool, package in wanted.items() if shutil.which(tool) is None}
    for header, package in recipe.headers.items():
        probe = subprocess.run(
            [recipe.compiler, "-E", "-xc", "-"], input=f"#include <{header}>\n", text=True, capture_output=True, check=False
        ) if recipe.compiler not in missing and shutil.which(recipe.compiler) else None  # fmt: skip
        if probe is None or probe.returncode:
            missing.add(package)
    if missing:
        raise bad_input(
            f"Building {recipe.name} needs packages that are not installed: {', '.join(sorted(missing))}.",
            f"Install them: apt-get install {' '.join(sorted(missing))}",
        )


def _digest(*paths: Path) -> str:
    total = hashlib.sha256()
    for path in paths:
        with open(path, "rb") as handle:
            total.update(hashlib.file_digest(handle, "sha256").digest())
    return total.hexdigest()
