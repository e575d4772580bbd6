# SPDX-License-Identifier: BSD-3-Clause
"""Kernels: from a recipe (kernels/<source>/kernel.toml) and a set of fixes to vmlinux and bzImage in the cache."""

import hashlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from common.cache import cached, hash_files
from common.outcome import Failure, Outcome, bad_input
from common.paths import cache_root
from common.progress import run_logged, step
from harness.build import source_changes as changes
from harness.build.build_place import build_place
from harness.build.kernel_configuration import configure
from harness.build.kernel_source import check_version, find_source, unpack
from harness.spec.fixes import Piece
from harness.spec.kernel import Recipe, chosen_fixes, load_recipe

# Bumped when what this module makes of the same inputs changes.
_RECIPE = 2
# The build folder's name in debugging information: fixed, so that it does not depend on the cache's place.
SOURCE_PREFIX = "/linux"
_IDENTITY = {
    "KBUILD_BUILD_TIMESTAMP": "Mon Jan  1 00:00:00 UTC 2024",
    "KBUILD_BUILD_USER": "mosbench",
    "KBUILD_BUILD_HOST": "mosbench",
    "KBUILD_BUILD_VERSION": "1",
}
_CLOCK = {"LC_ALL": "C", "TZ": "UTC", "SOURCE_DATE_EPOCH": "1704067200"}  # the same moment as above
# Variables that would change the build behind our back.
_NOT_PASSED = re.compile(
    r"^(MAKE|MFLAGS|CCACHE_|ARCH$|CROSS_COMPILE$|KBUILD_|KCFLAGS|KAFLAGS|KCONFIG_|LOCALVERSION|CC$|CFLAGS|LDFLAGS|INSTALL)"
)


@dataclass(frozen=True)
class Kernel:
    """A built kernel. ``vmlinux`` has DWARF with sources below ``SOURCE_PREFIX``; ``digest`` is the SHA-256 over both files."""

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
        "recipe": _RECIPE,
        "description": (recipe.folder / "kernel.toml").read_text(),
        "fragment": recipe.fragment.read_text(),
        "source": identity,
        "pieces": {piece.name: hash_files(piece.folder) for piece in recipe.pieces},
        "fixes": [[piece.name, fix_digest(piece)] for piece in chosen],
        "extra_config": list(extra_config),
        "compiler": _first_line(recipe.compiler, "--version"),
        "linker": _first_line("ld", "--version"),
    }
    words = [piece.name for piece in chosen]
    name = "-".join([source, *(words if len(words) < 4 else [f"{len(words)}-fixes"])])
    folder = cached("kernels", name, inputs, lambda building: _build(recipe, chosen, extra_config, origin, building))
    facts = json.loads((folder / "kernel.json").read_text())
    return Kernel(folder / "bzImage", folder / "vmlinux", facts["release"], folder, facts["sha256"])


def fix_digest(piece: Piece) -> str:
    """Hash of what of a fix its kernel is made from: not of its README, its summary or how it is measured."""
    described = {key: value for key, value in piece.data.items() if key not in ("summary", "measure", "conflicts")}
    parts = [*(rules.patch for rules in piece.rules), *([piece.files] if piece.files else [])]
    return hashlib.sha256(json.dumps([described, hash_files(*dict.fromkeys(parts))], sort_keys=True).encode()).hexdigest()


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
        version = changed_tree(recipe, fixes, origin, tree, log)
        wrapper, make, environment = build_command(recipe, folder, tree)
        configure(recipe, fixes, extra_config, tree, make, environment, log)
        jobs = f"-j{len(os.sched_getaffinity(0)) + 1}"
        run_logged(
            f"Building Linux {version}",
            [*make, jobs, *recipe.targets],
            log,
            cwd=tree,
            environment=environment,
            cure=f"See {log}.",
        )
    except Failure as failure:
        failure = _with_log_kept(failure, folder, tree, log)
        shutil.rmtree(folder)
        raise failure from None
    for made, name in (("vmlinux", "vmlinux"), (recipe.bzimage, "bzImage"), (".config", "config"), ("System.map", "System.map")):
        shutil.move(tree / made, folder / name)
    facts = {
        "release": _release(tree),
        "version": version,
        "source": str(recipe.name),
        "fixes": [piece.name for piece in fixes],
        "sha256": _digest(folder / "vmlinux", folder / "bzImage"),
    }
    (folder / "kernel.json").write_text(json.dumps(facts, indent=1) + "\n")
    with step("Removing the build tree"):
        shutil.rmtree(tree)
    wrapper.unlink()


def changed_tree(recipe: Recipe, fixes: Sequence[Piece], origin: Path, tree: Path, log: Path) -> str:
    """The source with every piece and ``fixes`` in the new folder ``tree``; its version."""
    unpack(recipe, origin, tree, log)
    version = check_version(recipe, tree)
    for piece in recipe.pieces:
        changes.apply(piece, tree)
    with step(f"Applying {', '.join(piece.name for piece in fixes)}"):
        for piece in fixes:
            changes.apply(piece, tree)
    return version


def build_command(recipe: Recipe, folder: Path, tree: Path, flags: Sequence[str] = ()) -> tuple[Path, list[str], dict[str, str]]:
    """The compiler's wrapper (written into ``folder``), how make is called in ``tree`` and with which environment.

    ``flags``: more flags of the compiler, before the recipe's.
    """
    wrapper = _compiler_wrapper(recipe, folder, tree, flags)
    make = ["make", f"CC={wrapper}", *(f"{key}={value}" for key, value in _IDENTITY.items())]
    kept = {key: value for key, value in os.environ.items() if not _NOT_PASSED.match(key)}
    return wrapper, make, {**kept, **_IDENTITY, **_CLOCK, **_compiler_cache(tree)}


def _compiler_cache(tree: Path) -> dict[str, str]:
    """Settings of ccache. Kernels with different fixes share the objects of every file that the fixes leave as it was."""
    folder = cache_root() / "ccache"
    folder.mkdir(parents=True, exist_ok=True)
    settings = {
        "DIR": folder,
        "CONFIGPATH": "/dev/null",
        "MAXSIZE": "3G",
        # The build folder's name is in no object (-ffile-prefix-map), so it must not tell two builds apart.
        "NOHASHDIR": "true",
        "BASEDIR": tree,
        "COMPILERCHECK": "content",
        "SLOPPINESS": "file_macro,locale",
    }
    return {f"CCACHE_{key}": str(value) for key, value in settings.items()}


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
    version = _first_line(recipe.compiler, "-dumpfullversion")
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


def _compiler_wrapper(recipe: Recipe, folder: Path, tree: Path, more: Sequence[str]) -> Path:
    """A compiler that knows flags in front of the kernel's own and hides the build folder's name."""
    wrapper = folder / recipe.compiler
    flags = " ".join([f"'-ffile-prefix-map={tree}={SOURCE_PREFIX}'", *more, *recipe.compiler_flags])
    wrapper.write_text(f'#!/bin/sh\nexec ccache {shutil.which(recipe.compiler)} {flags} "$@"\n')
    wrapper.chmod(0o755)
    return wrapper


def _release(tree: Path) -> str:
    return (tree / "include/config/kernel.release").read_text().strip()


def _digest(*paths: Path) -> str:
    total = hashlib.sha256()
    for path in paths:
        with open(path, "rb") as handle:
            total.update(hashlib.file_digest(handle, "sha256").digest())
    return total.hexdigest()


def _first_line(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise bad_input(f"{command[0]} does not run.", "Install the packages gcc and binutils.") from error
    return done.stdout.splitlines()[0]
