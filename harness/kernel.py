# SPDX-License-Identifier: BSD-3-Clause
"""Kernels: from a recipe (kernels/<source>/kernel.toml) and a set of fixes to vmlinux and bzImage in the cache."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness import fixes as changes
from harness import source_trees
from harness.cache import cached, hash_files
from harness.fixes import Piece
from harness.locks import locked, locked_now
from harness.outcome import Failure, Outcome, bad_input
from harness.paths import REPOSITORY, cache_root
from harness.progress import run_logged, step

_KERNELS = REPOSITORY / "kernels"
# Bumped when what this module makes of the same inputs changes.
_RECIPE = 2
# The build folder's name in debugging information: fixed, so that it does not depend on the cache's place.
SOURCE_PREFIX = "/linux"
# A build takes up to 4 GB; the rest is for what else runs.
_IN_MEMORY = Path("/dev/shm")
_PLACE = "mosbench-kernel-"
_MEMORY_TO_BUILD = 8 << 30
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


def sources(kernels: Path = _KERNELS) -> list[str]:
    """Names of the kernel sources that have a recipe."""
    return sorted(path.parent.name for path in kernels.glob("*/kernel.toml"))


def load_recipe(source: str, kernels: Path = _KERNELS) -> Recipe:
    """The recipe of ``source``.

    Raises:
        Failure: bad-input for an unknown source, a missing key, an unknown kind or a piece without its file.
    """
    if source not in sources(kernels):
        raise bad_input(f"There is no kernel {source}.", f"Known: {', '.join(sources(kernels))}.")
    folder = kernels / source
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
    """The fixes that ``fixes`` names and what they need, in the order in which they apply (see `harness.fixes.choose`)."""
    return changes.choose(recipe.fixes, fixes, recipe.name)


def build(source: str, fixes: tuple[str, ...] = (), tree: Path | None = None, *, extra_config: tuple[str, ...] = ()) -> Kernel:
    """The kernel ``source`` with ``fixes``, built unless it is in the cache.

    ``tree`` is the user's source (a folder or a tarball, never written to) of a recipe that has no package. ``extra_config``:
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


def find_source(recipe: Recipe, tree: Path | None) -> tuple[Path, dict[str, str]]:
    """Where the source is (a folder or a tarball), and what identifies its content.

    Raises:
        Failure: bad-input, when it is nowhere.
    """
    if recipe.tarball is None:
        if tree is not None and not tree.exists():
            raise bad_input(f"{tree} is not there.", recipe.obtain)
        found = tree or source_trees.download(recipe.name, recipe.url, recipe.checksums, recipe.obtain)
        return found, {"sha256": source_trees.digest(found)}
    version = installed_version(recipe.package)
    if version is None or not recipe.tarball.is_file():
        raise bad_input(f"{recipe.tarball} is not there.", f"Install it: apt-get install {recipe.package}")
    return recipe.tarball, {"package": recipe.package, "version": version}


@contextmanager
def readable(recipe: Recipe, origin: Path) -> Iterator[Path]:
    """The source as a folder: ``origin`` itself, or a temporary one that its tarball was unpacked into.

    Raises:
        Failure: bad-input, when it is not a source of the recipe's version.
    """
    if origin.is_dir():
        check_version(recipe, origin)
        yield origin
        return
    with tempfile.TemporaryDirectory(prefix="mosbench-source-") as name:
        _unpack(recipe, origin, Path(name, "tree"), Path(name, "log"))
        check_version(recipe, Path(name, "tree"))
        yield Path(name, "tree")


def installed_version(package: str) -> str | None:
    """Version of a Debian package on this machine, None when it is not installed."""
    try:
        query = ["dpkg-query", "--show", "--showformat", "${db:Status-Status} ${Version}", package]
        asked = subprocess.run(query, capture_output=True, text=True, check=False)
    except OSError:
        return None
    status, _, version = asked.stdout.partition(" ")
    return version if asked.returncode == 0 and status == "installed" else None


def _build(recipe: Recipe, fixes: Sequence[Piece], extra_config: Sequence[str], origin: Path, folder: Path) -> None:
    with build_place(folder) as place:
        _build_in(place / "tree", recipe, fixes, extra_config, origin, folder)


@contextmanager
def build_place(folder: Path) -> Iterator[Path]:
    """A folder to build a kernel in, removed afterwards: in memory where much is free, otherwise ``folder`` itself.

    A tree is 45,000 files that are written, read once and removed again, which takes a slow disk minutes.
    """
    if _free_memory() < _MEMORY_TO_BUILD or not os.access(_IN_MEMORY, os.W_OK):
        yield folder
        return
    with ExitStack() as held:
        with locked(_IN_MEMORY, "a folder to build a kernel in"):
            place = Path(held.enter_context(tempfile.TemporaryDirectory(prefix=_PLACE, dir=_IN_MEMORY)))
            held.enter_context(locked_now(place))
            _remove_abandoned()
        yield place


def _remove_abandoned() -> None:
    """Take away what builds that were killed left in memory. Call with ``_IN_MEMORY`` locked."""
    for place in _IN_MEMORY.glob(f"{_PLACE}*"):
        try:
            with locked_now(place):
                shutil.rmtree(place, ignore_errors=True)
        except OSError:  # somebody builds there
            continue


def _free_memory() -> int:
    """Bytes that can be had in memory and, as files, in ``_IN_MEMORY``; 0 where that does not exist."""
    try:
        available = re.search(r"^MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text(), re.MULTILINE)
        return min(int(available[1]) << 10 if available else 0, shutil.disk_usage(_IN_MEMORY).free)
    except OSError:
        return 0


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
    _unpack(recipe, origin, tree, log)
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


def _unpack(recipe: Recipe, origin: Path, tree: Path, log: Path) -> None:
    if origin.is_dir():
        with step(f"Copying {origin}"):
            shutil.copytree(origin, tree, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        return
    if recipe.package:
        _verify_package_file(recipe.package, origin)
    tree.mkdir()
    unpack: list[str | Path] = [
        "tar",
        "--extract",
        "--no-same-owner",
        "--strip-components=1",
        "--file",
        origin,
        "--directory",
        tree,
    ]
    run_logged(f"Unpacking {origin.name}", unpack, log, cure=f"{origin} is no readable tarball: fetch it again.")


def _checksums(package: str) -> Path:
    return Path(f"/var/lib/dpkg/info/{package}.md5sums")


def _verify_package_file(package: str, path: Path) -> None:
    """Refuse a file that is not what the package installed."""
    known = _checksums(package)
    if not known.is_file():
        return
    wanted = {name: md5 for md5, _, name in (line.partition("  ") for line in known.read_text().splitlines())}
    with step(f"Checking {path.name}"), open(path, "rb") as handle:
        found = hashlib.file_digest(handle, "md5").hexdigest()
    if wanted.get(str(path).lstrip("/"), found) != found:
        raise bad_input(
            f"{path} is not the file that the package {package} installed.", f"Run: apt-get install --reinstall {package}"
        )


def check_version(recipe: Recipe, tree: Path) -> str:
    """The version that ``tree``'s Makefile states, e.g. 6.1.192.

    Raises:
        Failure: bad-input when it is no kernel tree or not the recipe's version.
    """
    try:
        text = (tree / "Makefile").read_text(errors="replace")
    except OSError as error:
        raise bad_input(f"The source for {recipe.name} has no Makefile at its top.", recipe.obtain or "Reinstall it.") from error
    fields = dict(re.findall(r"^(VERSION|PATCHLEVEL|SUBLEVEL|EXTRAVERSION)\s*=[ \t]*(\S*)", text, re.MULTILINE))
    version: str = ".".join(fields.get(key, "") for key in ("VERSION", "PATCHLEVEL", "SUBLEVEL")) + fields.get("EXTRAVERSION", "")
    if version != recipe.version and not version.startswith(recipe.version + "."):
        raise bad_input(
            f"The source for {recipe.name} is Linux {version}, not {recipe.version}.", recipe.obtain or "Reinstall it."
        )
    return version


def _compiler_wrapper(recipe: Recipe, folder: Path, tree: Path, more: Sequence[str]) -> Path:
    """A compiler that knows flags in front of the kernel's own and hides the build folder's name."""
    wrapper = folder / recipe.compiler
    flags = " ".join([f"'-ffile-prefix-map={tree}={SOURCE_PREFIX}'", *more, *recipe.compiler_flags])
    wrapper.write_text(f'#!/bin/sh\nexec ccache {shutil.which(recipe.compiler)} {flags} "$@"\n')
    wrapper.chmod(0o755)
    return wrapper


def configure(
    recipe: Recipe,
    fixes: Sequence[Piece],
    extra_config: Sequence[str],
    tree: Path,
    make: Sequence[str],
    environment: Mapping[str, str],
    log: Path,
) -> None:
    """Write ``tree``'s configuration: the base, the fragment, and the lines of pieces, fixes and ``extra_config``.

    Raises:
        Failure: bad-input, when the kernel does not take over one of them.
    """
    more = [*(line for piece in (*recipe.pieces, *fixes) for line in piece.config), *extra_config]
    fragment = with_settings(recipe.fragment.read_text(), more)
    written = tree / ".mosbench-config"
    written.write_text(fragment)
    with_fragment = {**environment, "KCONFIG_ALLCONFIG": str(written)}
    run_logged("Configuring the kernel", [*make, recipe.base], log, cwd=tree, environment=with_fragment, cure=f"See {log}.")
    lost = lost_settings(fragment, (tree / ".config").read_text())
    if lost:
        raise bad_input(f"The kernel's configuration does not take over {', '.join(lost)}.", f"Correct {recipe.fragment}.")


def with_settings(fragment: str, more: Sequence[str]) -> str:
    """``fragment`` with the lines ``more``, each in place of the line that sets the same option."""
    names = {_option(line) for line in more}
    kept = [line for line in fragment.splitlines() if _option(line) not in names or not _option(line)]
    return "".join(f"{line}\n" for line in [*kept, *more])


def _option(line: str) -> str:
    found = re.match(r"(?:# )?(CONFIG_\w+)(?:=| is not set$)", line)
    return found[1] if found else ""


def lost_settings(fragment: str, config: str) -> list[str]:
    """Lines of ``fragment`` that are not so in ``config``; "# CONFIG_X is not set" also holds where X does not exist."""
    states = set(config.splitlines())
    set_names = {line.partition("=")[0] for line in states if line.startswith("CONFIG_")}
    lost = []
    for line in map(str.strip, fragment.splitlines()):
        off = re.fullmatch(r"# (CONFIG_\w+) is not set", line)
        if (off and off[1] in set_names) or (line.startswith("CONFIG_") and line not in states):
            lost.append(line.removeprefix("# "))
    return lost


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
