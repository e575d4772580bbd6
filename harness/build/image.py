# SPDX-License-Identifier: BSD-3-Clause
"""The root file system image: Debian packages + our init, the roi command and the workloads' guest files, as raw ext2.

Built without root and reproducible bit for bit from the same package versions. Packages are unpacked and their maintainer scripts
never run; what those would have set is data in disk-images/image.toml and disk-images/overlay.
"""

import errno
import hashlib
import json
import re
import shutil
import stat
import subprocess
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from common.cache import cached, hash_code, hash_files
from common.outcome import Failure, Outcome, bad_input
from common.paths import REPOSITORY, cache_root
from common.progress import run_logged, step
from harness.build import ext2, image_packages, postgresql_cluster, valgrind_requests
from harness.build.ext2 import Entry
from harness.build.image_packages import Selection

_FOLDER = REPOSITORY / "disk-images"
_WORKLOADS = REPOSITORY / "workloads"
_COMPILER = "gcc"
_FLAGS = ("-std=gnu17", "-O2", "-g", "-Wall", "-Wextra", "-Werror", "-pthread", "-Wl,--build-id=none")


@dataclass(frozen=True)
class Image:
    """A built image. ``digest`` is the SHA-256 of the file ``path``; ``packages.txt`` in ``folder`` lists what is in it."""

    path: Path
    digest: str
    folder: Path


@dataclass(frozen=True)
class Recipe:
    """disk-images/image.toml, with the packages of all workloads added."""

    selection: Selection
    identity: ext2.Identity
    slack_mib: int
    directories: Mapping[str, int]
    links: Mapping[str, str]


def load_recipe(folder: Path = _FOLDER, workloads: Path = _WORKLOADS) -> Recipe:
    """Read image.toml of ``folder`` and every packages.txt below ``workloads``.

    Raises:
        Failure: bad-input for a missing key or a line that is no package name.
    """
    path = folder / "image.toml"
    try:
        data: dict[str, Any] = tomllib.loads(path.read_text())
        packages = set(data["packages"])
        for extra in sorted(workloads.glob("*/packages.txt")):
            packages.update(package_names(extra))
        selection = Selection(
            suite=data["suite"],
            component=data["component"],
            architecture=data["architecture"],
            packages=tuple(sorted(packages)),
            without_packages=tuple(sorted(data["without_packages"])),
            without_paths=tuple(data["without_paths"]),
        )
        return Recipe(
            selection=selection,
            identity=ext2.Identity(data["epoch"], data["uuid"], data["label"]),
            slack_mib=data["slack_mib"],
            directories=dict(data["directories"]),
            links=dict(data["links"]),
        )
    except tomllib.TOMLDecodeError as error:
        raise bad_input(f"{path} is not valid TOML ({error}).", "Correct the file.") from error
    except KeyError as error:
        raise bad_input(f"{path} lacks the key {error.args[0]}.", "Add it.") from error


def package_names(path: Path) -> list[str]:
    """Package names of a packages.txt: one a line, ``#`` starts a comment."""
    names = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        name = line.partition("#")[0].strip()
        if not name:
            continue
        if not re.fullmatch(r"[a-z0-9][a-z0-9+.-]+", name):
            raise bad_input(f"{path}, line {number}: {name!r} is no package name.", "One Debian package a line.")
        names.append(name)
    return names


def build() -> Image:
    """The image, built unless it is in the cache.

    The key is what this repository states (recipe, overlay, sources) and the host's compiler. The versions of packages are those
    that the mirror offered when they were first unpacked; they are recorded in the entry, and a mirror that moves on never
    changes the image in the middle of a sweep.

    Raises:
        Failure: bad-input for a missing tool, an unreachable mirror or a guest program that does not compile.
    """
    recipe = load_recipe()
    roots = [_FOLDER / "guest", _FOLDER / "overlay"]
    roots += sorted(path for name in ("src", "guest") for path in _WORKLOADS.glob(f"*/{name}"))
    inputs: dict[str, object] = {
        "code": hash_code(Path(__file__), ext2, postgresql_cluster, valgrind_requests),
        "recipe": {**asdict(recipe), "selection": recipe.selection.key()},
        "files": {str(root.relative_to(REPOSITORY)): hash_files(root) for root in roots},
        "cluster": hash_files(postgresql_cluster.SOURCE),
        "compiler": _compiler_version(),
    }
    try:
        folder = cached("images", recipe.selection.suite, inputs, lambda building: _build(recipe, building))
    except (Failure, OSError) as error:
        full = isinstance(error, OSError) and error.errno == errno.ENOSPC
        if full or "No space left on device" in str(error):
            what = f"{cache_root()} has no room for the image and its packages (1 GB)."
            raise Failure(Outcome.DISK_FULL, what, "Free space, or set MOSBENCH_CACHE.") from error
        raise
    facts = json.loads((folder / "image.json").read_text())
    return Image(folder / "root.ext2", facts["sha256"], folder)


def _build(recipe: Recipe, folder: Path) -> None:
    packages = image_packages.unpacked(recipe.selection)
    scratch = folder / "scratch"
    scratch.mkdir()
    tree = image_packages.load_tree(packages)
    tree.update(valgrind_requests.take_out(tree, scratch))
    _add_directories_and_links(tree, recipe)
    _add_overlay(tree, _FOLDER / "overlay")
    _add_programs(tree, scratch, folder / "build.log")
    _add_workload_files(tree, _WORKLOADS)
    postgresql_cluster.add_cluster(tree, packages.name)
    add_parents(tree)
    tree[PurePosixPath("dev/console")] = Entry.character_device(5, 1)
    tree[PurePosixPath("dev/null")] = Entry.character_device(1, 3, 0o666)
    image = folder / "root.ext2"
    ext2.write(tree, image, recipe.identity, recipe.slack_mib)
    shutil.copyfile(packages / "packages.txt", folder / "packages.txt")
    with step("Image digest"), open(image, "rb") as handle:
        digest = hashlib.file_digest(handle, "sha256").hexdigest()
    facts = {"sha256": digest, "bytes": image.stat().st_size, "entries": len(tree)}
    (folder / "image.json").write_text(json.dumps(facts, indent=1) + "\n")
    shutil.rmtree(scratch)


def _add_directories_and_links(tree: dict[PurePosixPath, Entry], recipe: Recipe) -> None:
    for name, target in recipe.links.items():
        tree[PurePosixPath(name)] = Entry.link(target)
    for name, permissions in recipe.directories.items():
        tree[PurePosixPath(name)] = Entry.folder(permissions)
    add_parents(tree)


def add_parents(tree: dict[PurePosixPath, Entry]) -> None:
    """Add the folders above every entry that no package names."""
    for path in list(tree):
        for parent in path.parents:
            if parent != PurePosixPath(".") and parent not in tree:
                tree[parent] = Entry.folder()


def _add_overlay(tree: dict[PurePosixPath, Entry], overlay: Path) -> None:
    for path in sorted(overlay.rglob("*")):
        if path.is_file():
            executable = path.stat().st_mode & stat.S_IXUSR
            tree[PurePosixPath(path.relative_to(overlay))] = Entry.file(path, 0o755 if executable else 0o644)
    add_parents(tree)


def _add_programs(tree: dict[PurePosixPath, Entry], scratch: Path, log: Path) -> None:
    """Compile init, roi and the workloads' sources.

    Of an application, each ``src/*.c`` is one program, and each folder ``src/<program>/`` is one made from all its .c files.
    """
    programs = {
        PurePosixPath("mosbench/init"): _FOLDER / "guest/init.c",
        PurePosixPath("mosbench/bin/roi"): _FOLDER / "guest/roi.c",
        PurePosixPath("mosbench/bin/m5op"): _FOLDER / "guest/m5op.c",
    }
    for source in sorted(_WORKLOADS.glob("*/src/*.c")):
        programs[PurePosixPath("mosbench/workloads") / source.parent.parent.name / source.stem] = source
    for folder in sorted(path for path in _WORKLOADS.glob("*/src/*") if any(path.glob("*.c"))):
        programs[PurePosixPath("mosbench/workloads") / folder.parent.parent.name / folder.name] = folder
    built = scratch / "programs"
    built.mkdir()
    for number, (path, source) in enumerate(sorted(programs.items())):
        program = built / str(number)
        command = compile_command(source, program)
        run_logged(f"Compiling {source.relative_to(REPOSITORY)}", command, log, cwd=REPOSITORY, cure=f"See {log}.")
        tree[path] = Entry.file(program, 0o755)
    add_parents(tree)


def compile_command(source: Path, program: Path) -> list[str | Path]:
    """How ``program`` is made from one .c file or all of a folder.

    It is static, unless libraries.txt in the folder names libraries of the image (as after -l, one a line).
    """
    libraries = source / "libraries.txt"
    # Names of the host's folders would make two machines' images differ.
    command: list[str | Path] = [_COMPILER, *_FLAGS, f"-ffile-prefix-map={REPOSITORY}=/mosbench-gem5"]
    command += [f"-I{_FOLDER / 'guest'}", f"-I{source.parent}", "-o", program]
    command += sorted(source.glob("*.c")) if source.is_dir() else [source]
    command += [f"-l{name}" for name in libraries.read_text().split()] if libraries.is_file() else ["-static"]
    return [*command, "-lm"]


def _add_workload_files(tree: dict[PurePosixPath, Entry], workloads: Path) -> None:
    for path in sorted(workloads.glob("*/guest/**/*")):
        if path.is_file() and "__pycache__" not in path.parts:
            application = path.relative_to(workloads).parts[0]
            inside = path.relative_to(workloads / application / "guest")
            # `run` is what init executes: executable even if a checkout lost the bit.
            executable = path.stat().st_mode & stat.S_IXUSR or inside == Path("run")
            tree[PurePosixPath("mosbench/workloads", application, inside)] = Entry.file(path, 0o755 if executable else 0o644)
    add_parents(tree)


def _compiler_version() -> str:
    try:
        done = subprocess.run([_COMPILER, "-dumpfullversion", "-dumpmachine"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        what = f"{_COMPILER} does not run, and the guest's programs are compiled with it."
        raise bad_input(what, "Install the packages gcc and libc6-dev.") from error
    return done.stdout.strip()
