# SPDX-License-Identifier: BSD-3-Clause
"""Debian packages as a tree of files: selected, downloaded and unpacked into the cache, their maintainer scripts never run."""

import fnmatch
import json
import shutil
import stat
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath

from common.cache import cached, hash_code
from common.progress import step
from harness.build import debian_archive
from harness.build.debian_archive import Apt, deb_contents
from harness.build.ext2 import Entry


@dataclass(frozen=True)
class Selection:
    """Which packages, and what of them."""

    suite: str
    component: str
    architecture: str
    packages: tuple[str, ...]
    """Sorted names; what they depend on comes along."""
    without_packages: tuple[str, ...]
    without_paths: tuple[str, ...]
    """Patterns as of `left_out`."""

    def key(self) -> dict[str, object]:
        """What the tree of the packages is made from."""
        return {"code": hash_code(Path(__file__), debian_archive), **asdict(self)}


def unpacked(selection: Selection) -> Path:
    """Cache entry with the packages' files: a change of a workload needs no network and no unpacking.

    In it: ``contents/``, ``tree.json`` (see ``load_tree``) and ``packages.txt`` with the versions.
    """
    return cached("packages", selection.suite, selection.key(), lambda folder: _unpack(selection, folder))


def _unpack(selection: Selection, folder: Path) -> None:
    log = folder / "build.log"
    apt = Apt(folder / "apt", selection.suite, selection.component, selection.architecture, log)
    apt.update()
    # What is named is wanted, whatever is left out of what others depend on.
    without = set(selection.without_packages) - set(selection.packages)
    packages = [package for package in apt.resolve(selection.packages) if package.name not in without]
    contents = folder / "contents"
    contents.mkdir()
    tree: dict[PurePosixPath, Entry] = {}
    debs = apt.download(packages)
    with step("Unpacking packages") as current:
        for package, deb in zip(packages, debs, strict=True):
            current.note = package.name
            with deb_contents(deb) as tar:
                add_tar(tree, tar, contents, selection.without_paths)
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
