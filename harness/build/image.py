# SPDX-License-Identifier: BSD-3-Clause
"""The root file system image: Debian packages + our init, the roi command and the workloads' guest files, as raw ext2.

Built without root and reproducible bit for bit from the same package versions. Packages are unpacked and their maintainer scripts
never run; what those would have set is data in disk-images/image.toml and disk-images/overlay.
"""

import errno
import fnmatch
import hashlib
import json
import re
import shutil
import stat
import subprocess
import tarfile
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from common.cache import cached, hash_files
from common.outcome import Failure, Outcome, bad_input
from common.paths import REPOSITORY, cache_root
from common.progress import run_logged, step
from harness.build import ext2
from harness.build.debian_archive import Apt, deb_contents
from harness.build.ext2 import Entry
from harness.build.postgresql_cluster import add_cluster
from harness.build.valgrind_requests import take_out

_FOLDER = REPOSITORY / "disk-images"
_WORKLOADS = REPOSITORY / "workloads"
# Bumped when what these modules make of the same inputs changes: of packages, and of those and our files.
_UNPACKING = 1
_MAKING = 2
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

    suite: str
    component: str
    architecture: str
    identity: ext2.Identity
    slack_mib: int
    packages: tuple[str, ...]
    without_packages: frozenset[str]
    without_paths: tuple[str, ...]
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
        return Recipe(
            suite=data["suite"],
            component=data["component"],
            architecture=data["architecture"],
            identity=ext2.Identity(data["epoch"], data["uuid"], data["label"]),
            slack_mib=data["slack_mib"],
            packages=tuple(sorted(packages)),
            without_packages=frozenset(data["without_packages"]),
            without_paths=tuple(data["without_paths"]),
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
    roots = [_FOLDER, *sorted(path for name in ("src", "guest", "host", "packages.txt") for path in _WORKLOADS.glob(f"*/{name}"))]
    inputs: dict[str, object] = {
        "recipe": [_UNPACKING, _MAKING],
        "files": {str(root.relative_to(REPOSITORY)): hash_files(root) for root in roots},
        "compiler": _compiler_version(),
    }
    try:
        folder = cached("images", recipe.suite, inputs, lambda building: _build(recipe, building))
    except (Failure, OSError) as error:
        full = isinstance(error, OSError) and error.errno == errno.ENOSPC
        if full or "No space left on device" in str(error):
            what = f"{cache_root()} has no room for the image and its packages (1 GB)."
            raise Failure(Outcome.DISK_FULL, what, "Free space, or set MOSBENCH_CACHE.") from error
        raise
    facts = json.loads((folder / "image.json").read_text())
    return Image(folder / "root.ext2", facts["sha256"], folder)


def _build(recipe: Recipe, folder: Path) -> None:
    unpacked = _unpacked(recipe)
    scratch = folder / "scratch"
    scratch.mkdir()
    tree = load_tree(unpacked)
    tree.update(take_out(tree, scratch))
    _add_directories_and_links(tree, recipe)
    _add_overlay(tree, _FOLDER / "overlay")
    _add_programs(tree, scratch, folder / "build.log")
    _add_workload_files(tree, _WORKLOADS)
    add_cluster(tree, unpacked.name)
    add_parents(tree)
    tree[PurePosixPath("dev/console")] = Entry.character_device(5, 1)
    tree[PurePosixPath("dev/null")] = Entry.character_device(1, 3, 0o666)
    image = folder / "root.ext2"
    ext2.write(tree, image, recipe.identity, recipe.slack_mib)
    shutil.copyfile(unpacked / "packages.txt", folder / "packages.txt")
    with step("Image digest"), open(image, "rb") as handle:
        digest = hashlib.file_digest(handle, "sha256").hexdigest()
    facts = {"sha256": digest, "bytes": image.stat().st_size, "entries": len(tree)}
    (folder / "image.json").write_text(json.dumps(facts, indent=1) + "\n")
    shutil.rmtree(scratch)


def _unpacked(recipe: Recipe) -> Path:
    """Cache entry with the packages' files: a change of a workload needs no network and no unpacking.

    In it: ``contents/``, ``tree.json`` (see ``load_tree``) and ``packages.txt`` with the versions.
    """
    inputs: dict[str, object] = {
        "recipe": _UNPACKING,
        "source": [recipe.suite, recipe.component, recipe.architecture],
        "packages": recipe.packages,
        "without": [sorted(recipe.without_packages), recipe.without_paths],
    }
    return cached("packages", recipe.suite, inputs, lambda folder: _unpack_packages(recipe, folder))


def _unpack_packages(recipe: Recipe, folder: Path) -> None:
    log = folder / "build.log"
    apt = Apt(folder / "apt", recipe.suite, recipe.component, recipe.architecture, log)
    apt.update()
    packages = [package for package in apt.resolve(recipe.packages) if package.name not in recipe.without_packages]
    contents = folder / "contents"
    contents.mkdir()
    tree: dict[PurePosixPath, Entry] = {}
    debs = apt.download(packages)
    with step("Unpacking packages") as current:
        for package, deb in zip(packages, debs, strict=True):
            current.note = package.name
            with deb_contents(deb) as tar:
                add_tar(tree, tar, contents, recipe.without_paths)
    save_tree(tree, folder)
    (folder / "packages.txt").write_text("".join(f"{package.name} {package.version}\n" for package in packages))
    shutil.rmtree(folder / "apt")


def save_tree(tree: Mapping[PurePosixPath, Entry], folder: Path) -> None:
    """Write ``tree``, whose files are in ``folder/contents``, as ``folder/tree.json``."""
    rows = [
        [str(path), entry.mode, entry.uid, entry.gid, entry.content and entry.content.name, entry.target]
        for path, entry in sorted(tree.items())
    ]
    (folder / "tree.json").write_text(json.dumps(rows))


def load_tree(folder: Path) -> dict[PurePosixPath, Entry]:
    """What ``save_tree`` wrote."""
    rows: list[tuple[str, int, int, int, str | None, str]] = json.loads((folder / "tree.json").read_text())
    return {
        PurePosixPath(path): Entry(mode, uid, gid, folder / "contents" / content if content else None, target)
        for path, mode, uid, gid, content, target in rows
    }


def add_tar(tree: dict[PurePosixPath, Entry], tar: tarfile.TarFile, contents: Path, without: Sequence[str]) -> None:
    """Add a package's files to ``tree``, with /bin, /sbin, /lib and /lib64 merged into /usr; file contents go to ``contents``.

    ``without`` are fnmatch patterns of paths (no leading slash) to leave out.
    """
    for member in tar:
        path = merged(PurePosixPath(member.name.removeprefix("./").rstrip("/") or "."))
        if path == PurePosixPath(".") or left_out(path, without):
            continue
        permissions = stat.S_IMODE(member.mode)
        if member.isdir():
            known = tree.get(path)
            if known is None or not stat.S_ISLNK(known.mode):
                tree[path] = Entry.folder(permissions, member.uid, member.gid)
        elif member.issym():
            tree[path] = Entry.link(member.linkname)
        elif member.islnk():
            other = merged(PurePosixPath(member.linkname.removeprefix("./")))
            if other in tree:
                tree[path] = tree[other]
        elif member.isfile():
            data = tar.extractfile(member)
            assert data is not None
            held = contents / str(len(tree))
            while held.exists():
                held = held.with_name(held.name + "+")
            with open(held, "wb") as output:
                shutil.copyfileobj(data, output, 1 << 20)
            tree[path] = Entry.file(held, permissions, member.uid, member.gid)


def merged(path: PurePosixPath) -> PurePosixPath:
    """``path`` on a system where /bin, /sbin, /lib and /lib64 are links into /usr, as Debian 12 has them."""
    if path.parts and path.parts[0] in ("bin", "sbin", "lib", "lib64"):
        return PurePosixPath("usr") / path
    return path


def left_out(path: PurePosixPath, patterns: Sequence[str]) -> bool:
    """Whether one of the fnmatch ``patterns`` matches ``path`` or the folder itself of a pattern that ends in ``/*``."""
    text = str(path)
    return any(fnmatch.fnmatchcase(text, pattern) or (pattern.endswith("/*") and text == pattern[:-2]) for pattern in patterns)


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
