# SPDX-License-Identifier: BSD-3-Clause
"""The guest's disks: one that every guest boots from, with our init, and one of each workload, its root.

A workload's disk holds Debian's base system, the workload's own packages, programs and files, and nothing of any other workload:
a change of one leaves the others' as they are. Init makes it the root when it knows the job, so that a checkpoint of a booted
guest, which gem5 takes before, is for all of them.

Built without root and reproducible bit for bit from the same package versions. Packages are unpacked and their maintainer scripts
never run; what those would have set is data in disk-images/image.toml, and in overlay/ there and in a workload's folder.
"""

import errno
import hashlib
import json
import os
import shutil
import stat
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any

from common.cache import cached, hash_code, hash_files
from common.outcome import Failure, Outcome, bad_input
from common.paths import REPOSITORY, cache_root
from common.progress import step
from harness.build import ext2, guest_programs, image_packages, partition, postgresql_cluster, source_programs, valgrind_requests
from harness.build.ext2 import Entry
from harness.build.image_packages import Selection
from harness.spec.point import Point
from harness.spec.workload import Workload

_FOLDER = REPOSITORY / "disk-images"
_INIT = PurePosixPath("mosbench/init")
_OUR_COMMANDS = ("roi", "m5op")
_WORKLOADS = PurePosixPath("mosbench/workloads")


@dataclass(frozen=True)
class Image:
    """The disks of a guest: ``boot``, the same for all, and ``root``, that of its workload.

    ``boot_digest`` is the SHA-256 of the first, ``digest`` stands for both. ``packages.txt`` in ``folder`` lists what is in the
    second, and ``disk_mib`` is its size for the guest.
    """

    boot: Path
    root: Path
    boot_digest: str
    digest: str
    folder: Path
    disk_mib: int


@dataclass(frozen=True)
class Recipe:
    """disk-images/image.toml."""

    selection: Selection
    """The packages of every workload."""
    identity: ext2.Identity
    slack_mib: int
    disk_mib: int
    signature: int
    """Of the boot disk, 32 bits: kernels that name partitions by it find their root so."""
    directories: Mapping[str, int]
    links: Mapping[str, str]

    def with_packages(self, packages: tuple[str, ...]) -> "Recipe":
        """The recipe of a workload that needs ``packages``."""
        both = tuple(sorted({*self.selection.packages, *packages}))
        return replace(self, selection=replace(self.selection, packages=both))

    def key(self) -> dict[str, object]:
        """What is made from it depends on this."""
        return {**asdict(self), "selection": self.selection.key()}


def load_recipe(folder: Path = _FOLDER) -> Recipe:
    """Read image.toml of ``folder``.

    Raises:
        Failure: bad-input for a missing key.
    """
    path = folder / "image.toml"
    try:
        data: dict[str, Any] = tomllib.loads(path.read_text())
        selection = Selection(
            suite=data["suite"],
            component=data["component"],
            architecture=data["architecture"],
            packages=tuple(sorted(data["packages"])),
            without_packages=tuple(sorted(data["without_packages"])),
            without_paths=tuple(data["without_paths"]),
        )
        return Recipe(
            selection=selection,
            identity=ext2.Identity(data["epoch"], data["uuid"], data["label"]),
            slack_mib=data["slack_mib"],
            disk_mib=data["disk_mib"],
            signature=data["signature"],
            directories=dict(data["directories"]),
            links=dict(data["links"]),
        )
    except tomllib.TOMLDecodeError as error:
        raise bad_input(f"{path} is not valid TOML ({error}).", "Correct the file.") from error
    except KeyError as error:
        raise bad_input(f"{path} lacks the key {error.args[0]}.", "Add it.") from error


def of(point: Point) -> Image:
    """The disks that ``point`` runs on, as `build`."""
    return build(point.workload_definition, point.parameters)


def build(work: Workload, parameters: Mapping[str, str] = MappingProxyType({})) -> Image:
    """The disks for ``work`` with these parameters (none: what most of its jobs run on), built unless they are in the cache.

    The keys are what the repository and the workload's folder state (recipe, overlays, sources) and the host's compiler. The
    versions of packages are those that the mirror offered when a set of them was first unpacked; they are recorded in the entry,
    and a mirror that moves on never changes a disk in the middle of a sweep.

    Raises:
        Failure: bad-input for a missing tool, an unreachable mirror, a package that there is not or a guest program that does not
            compile; disk-full.
    """
    recipe = load_recipe()
    boot, root = _boot_disk(recipe), _root_disk(recipe.with_packages(work.packages), work, work.on_disk(parameters))
    boot_digest, root_digest = (json.loads((one / "image.json").read_text())["sha256"] for one in (boot, root))
    digest = hashlib.sha256(f"{boot_digest} {root_digest}".encode()).hexdigest()
    return Image(boot / "disk.img", root / "disk.ext2", boot_digest, digest, root, recipe.disk_mib)


@contextmanager
def files_of(image: Image) -> Iterator[Callable[[str], Path | None]]:
    """What copies a file of the workload's disk, named by its absolute path, to this host; copies last as long as the body."""
    with tempfile.TemporaryDirectory(prefix="mosbench-files-") as name:
        copies: dict[str, Path | None] = {}

        def copy(path: str) -> Path | None:
            if path not in copies:
                target = Path(name) / str(len(copies))
                copies[path] = target if ext2.read_file(image.root, PurePosixPath(path), target) else None
            return copies[path]

        yield copy


def _boot_disk(recipe: Recipe) -> Path:
    """Cache entry of the disk that a guest boots from: init, and the folders that it mounts on."""
    inputs: dict[str, object] = {
        "code": hash_code(Path(__file__), ext2, guest_programs, partition),
        "recipe": {
            "identity": asdict(recipe.identity),
            "signature": recipe.signature,
            "slack_mib": recipe.slack_mib,
            "directories": dict(recipe.directories),
        },
        "files": hash_files(guest_programs.GUEST / "init.c", guest_programs.GUEST / "roi.h"),
        "compiler": guest_programs.compiler_version(),
    }

    def fill(tree: dict[PurePosixPath, Entry], folder: Path, scratch: Path) -> None:
        _add_folders(tree, recipe)
        guest_programs.add(tree, {_INIT: guest_programs.GUEST / "init.c"}, (), scratch, folder / "build.log")

    return _disk("boot", inputs, recipe, fill, _as_partition)


def _root_disk(recipe: Recipe, work: Workload, on_disk: Mapping[str, str]) -> Path:
    """Cache entry of a workload's disk, which is made of the parameters ``on_disk``."""
    roots = [path for name in ("src", "guest", "overlay") if (path := work.folder / name).is_dir()]
    ours = [guest_programs.GUEST, _FOLDER / "overlay"]
    own_languages = guest_programs.languages(work.folder)
    inputs: dict[str, object] = {
        "code": hash_code(Path(__file__), ext2, guest_programs, postgresql_cluster, valgrind_requests),
        "recipe": recipe.key(),
        "files": {path.name: hash_files(path) for path in roots} | {f"our {path.name}": hash_files(path) for path in ours},
        "from source": source_programs.key(work.folder),
        "flags": list(work.flags),
        "name": work.name,
        "parameters": dict(on_disk),
        "cluster": hash_files(postgresql_cluster.HOST) if postgresql_cluster.is_for(recipe.selection.packages) else "",
        "compiler": guest_programs.compiler_version(),
        "compilers of its own": {
            one.name: guest_programs.compiler_version(one) for one in guest_programs.LANGUAGES if one in own_languages
        },
    }

    def fill(tree: dict[PurePosixPath, Entry], folder: Path, scratch: Path) -> None:
        packages = image_packages.unpacked(recipe.selection)
        tree.update(image_packages.load_tree(packages))
        tree.update(valgrind_requests.take_out(tree, scratch))
        tree.update({PurePosixPath(name): Entry.link(target) for name, target in recipe.links.items()})
        _add_folders(tree, recipe)
        for overlay in (_FOLDER / "overlay", work.folder / "overlay"):
            _add_files(tree, overlay, PurePosixPath("."))
        own = _WORKLOADS / work.name
        programs = {PurePosixPath("mosbench/bin") / name: guest_programs.GUEST / f"{name}.c" for name in _OUR_COMMANDS}
        guest_programs.add(tree, programs, (), scratch, folder / "build.log")
        programs = {own / name: source for name, source in guest_programs.sources_of(work.folder).items()}
        own_scratch = scratch / "own"
        own_scratch.mkdir()
        guest_programs.add(tree, programs, work.flags, own_scratch, folder / "build.log")
        _add_files(tree, work.folder / "guest", own)
        # `run` is what init executes: executable even if a checkout lost the bit.
        tree[own / "run"] = Entry.file(work.folder / "guest" / "run", 0o755)
        if postgresql_cluster.is_for(recipe.selection.packages):
            postgresql_cluster.add_cluster(tree, packages.name, on_disk)
        built = source_programs.add(tree, work.folder)
        listed = (packages / "packages.txt").read_text() + "".join(f"{line}\n" for line in built)
        (folder / "packages.txt").write_text(listed)

    return _disk(_disk_name(work, on_disk), inputs, recipe, fill, _as_whole)


def _as_partition(file_system: Path, recipe: Recipe) -> None:
    """The boot disk, ``disk.img``: kernels find its one partition by the disk's signature."""
    partition.write(file_system, file_system.with_name("disk.img"), recipe.signature)
    file_system.unlink()


def _as_whole(file_system: Path, recipe: Recipe) -> None:
    """A workload's disk, ``disk.ext2``: of the size that every such disk has."""
    size = file_system.stat().st_size
    if size > recipe.disk_mib << 20:
        raise bad_input(
            f"The workload's files take {size >> 20} MiB, and a disk has {recipe.disk_mib}.",
            f"Leave some out, or raise disk_mib in {_FOLDER / 'image.toml'}.",
        )
    os.truncate(file_system, recipe.disk_mib << 20)


Fill = Callable[[dict[PurePosixPath, Entry], Path, Path], None]
"""Adds to a tree; given the cache entry that is being built and a folder in it for what is not kept."""
Form = Callable[[Path, Recipe], None]
"""Makes a disk of a file system, in its folder."""


def entry_name(work: Workload, parameters: Mapping[str, str]) -> str:
    """What the cache entries of a workload's disk begin with."""
    return _entry(load_recipe(), _disk_name(work, work.on_disk(parameters)))


def _disk_name(work: Workload, on_disk: Mapping[str, str]) -> str:
    return "-".join([work.name, *(f"{key}-{value}" for key, value in on_disk.items())])


def _entry(recipe: Recipe, name: str) -> str:
    return f"{recipe.selection.suite}-{name}"


def _disk(name: str, inputs: Mapping[str, object], recipe: Recipe, fill: Fill, form: Form) -> Path:
    """Cache entry with a disk and ``image.json``, made from what ``fill`` adds to an empty tree."""
    try:
        return cached("images", _entry(recipe, name), inputs, lambda folder: _write(recipe, fill, form, folder))
    except (Failure, OSError) as error:
        full = isinstance(error, OSError) and error.errno == errno.ENOSPC
        if full or "No space left on device" in str(error):
            what = f"{cache_root()} has no room for the image and its packages (1 GB)."
            raise Failure(Outcome.DISK_FULL, what, "Free space, or set MOSBENCH_CACHE.") from error
        raise


def _write(recipe: Recipe, fill: Fill, form: Form, folder: Path) -> None:
    scratch = folder / "scratch"
    scratch.mkdir()
    tree: dict[PurePosixPath, Entry] = {}
    fill(tree, folder, scratch)
    add_parents(tree)
    tree[PurePosixPath("dev/console")] = Entry.character_device(5, 1)
    tree[PurePosixPath("dev/null")] = Entry.character_device(1, 3, 0o666)
    file_system = folder / "disk.ext2"
    ext2.write(tree, file_system, recipe.identity, recipe.slack_mib)
    size = file_system.stat().st_size
    with step("Image digest"), open(file_system, "rb") as handle:
        digest = hashlib.file_digest(handle, "sha256").hexdigest()
    form(file_system, recipe)
    facts = {"sha256": digest, "bytes": size, "entries": len(tree)}
    (folder / "image.json").write_text(json.dumps(facts, indent=1) + "\n")
    shutil.rmtree(scratch)


def _add_folders(tree: dict[PurePosixPath, Entry], recipe: Recipe) -> None:
    """The empty folders of the recipe."""
    tree.update({PurePosixPath(name): Entry.folder(permissions) for name, permissions in recipe.directories.items()})


def add_parents(tree: dict[PurePosixPath, Entry]) -> None:
    """Add the folders above every entry that no package names."""
    for path in list(tree):
        for parent in path.parents:
            if parent != PurePosixPath(".") and parent not in tree:
                tree[parent] = Entry.folder()


def _add_files(tree: dict[PurePosixPath, Entry], folder: Path, place: PurePosixPath) -> None:
    """The files below ``folder``, at ``place`` of the image."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            executable = path.stat().st_mode & stat.S_IXUSR
            tree[place / path.relative_to(folder)] = Entry.file(path, 0o755 if executable else 0o644)
