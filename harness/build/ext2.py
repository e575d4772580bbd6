# SPDX-License-Identifier: BSD-3-Clause
"""An ext2 file system made from a table of entries: the same bytes each time, for any user.

`mke2fs -d FOLDER` would copy owners and change times of the folder's files into the image, which makes it depend on who builds it
and when. So the file system is made empty and filled by debugfs from a sorted script that states owner and mode of each entry;
E2FSPROGS_FAKE_TIME fixes all time stamps.
"""

import os
import shutil
import stat
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from common.outcome import bad_input
from common.progress import step

_BLOCK = 4096
# What every kernel from 2.6 on reads; named in full so that the host's mke2fs.conf has no say.
_FEATURES = "none,filetype,sparse_super,large_file"
# A debugfs command that worked says nothing but this on its error stream or its output.
_CHATTER = ("debugfs ", "debugfs: ", "Allocated inode: ")


@dataclass(frozen=True)
class Entry:
    """One name: a folder, a file (``content`` on the host), a symbolic link (``target``) or a character device."""

    mode: int  # type and permission bits, as st_mode
    uid: int = 0
    gid: int = 0
    content: Path | None = None
    target: str = ""
    device: tuple[int, int] = (0, 0)

    @staticmethod
    def folder(permissions: int = 0o755, uid: int = 0, gid: int = 0) -> "Entry":
        return Entry(stat.S_IFDIR | permissions, uid, gid)

    @staticmethod
    def file(content: Path, permissions: int = 0o644, uid: int = 0, gid: int = 0) -> "Entry":
        return Entry(stat.S_IFREG | permissions, uid, gid, content=content)

    @staticmethod
    def link(target: str) -> "Entry":
        return Entry(stat.S_IFLNK | 0o777, target=target)

    @staticmethod
    def character_device(major: int, minor: int, permissions: int = 0o600) -> "Entry":
        return Entry(stat.S_IFCHR | permissions, device=(major, minor))


Tree = Mapping[PurePosixPath, Entry]


@dataclass(frozen=True)
class Identity:
    """What is fixed so that two builds agree: ``epoch`` in seconds since 1970."""

    epoch: int
    uuid: str
    label: str


def script(tree: Tree) -> str:
    """The debugfs commands that create ``tree`` (paths relative to the root), sorted, parents first.

    Raises:
        Failure: bad-input for a name that debugfs cannot quote, or an entry whose parent is no folder of the tree.
    """
    lines: list[str] = []
    here: PurePosixPath | None = None
    for path in sorted(tree):
        entry = tree[path]
        parent = path.parent
        if parent != PurePosixPath(".") and (parent not in tree or not stat.S_ISDIR(tree[parent].mode)):
            raise bad_input(f"{path} would be in the image without a folder {parent}.", "Name the folder in image.toml.")
        for text in (str(path), entry.target, str(entry.content or "")):
            if '"' in text or "\n" in text:
                raise bad_input(f"{path}: debugfs cannot take a quote or a line break in a name.", "Rename the file.")
        if parent != here:
            lines.append(f'cd "/{"" if parent == PurePosixPath(".") else parent}"')
            here = parent
        name = f'"{path.name}"'
        if stat.S_ISDIR(entry.mode):
            lines.append(f"mkdir {name}")
        elif stat.S_ISLNK(entry.mode):
            lines.append(f'symlink {name} "{entry.target}"')
            continue
        elif stat.S_ISCHR(entry.mode):
            lines.append(f"mknod {name} c {entry.device[0]} {entry.device[1]}")
        else:
            lines.append(f'write "{entry.content}" {name}')
        lines.append(f"sif {name} mode 0{entry.mode:o}")
        if entry.uid:
            lines.append(f"sif {name} uid {entry.uid}")
        if entry.gid:
            lines.append(f"sif {name} gid {entry.gid}")
    return "\n".join(lines) + "\n"


def size_mib(tree: Tree, slack_mib: int) -> int:
    """Size of a file system that holds ``tree``: files and their indirect blocks, folders, inodes, and ``slack_mib``."""
    total = 0
    for entry in tree.values():
        size = entry.content.stat().st_size if entry.content else 0
        blocks = -(-size // _BLOCK)
        total += (blocks + blocks // 1000 + 2) * _BLOCK if blocks else 0
        total += 256 + (_BLOCK if stat.S_ISDIR(entry.mode) else 0)
    # 1/64 for bitmaps, group descriptors and copies of the superblock.
    return -(-(total + total // 64) // 2**20) + slack_mib


def write(tree: Tree, image: Path, identity: Identity, slack_mib: int) -> None:
    """Write ``tree`` as a raw ext2 image without partition table to ``image`` (sparse).

    Raises:
        Failure: bad-input when e2fsprogs is missing or one of its commands reports anything.
    """
    for tool in ("mke2fs", "debugfs", "e2fsck"):
        if _tool(tool) is None:
            raise bad_input(f"{tool} is not there.", "Install the package e2fsprogs.")
    environment = {
        **os.environ, "E2FSPROGS_FAKE_TIME": str(identity.epoch), "MKE2FS_CONFIG": "/dev/null", "MKE2FS_DEVICE_SECTSIZE": "512",
        "DEBUGFS_PAGER": "cat", "LC_ALL": "C", "TZ": "UTC",
    }  # fmt: skip
    image.unlink(missing_ok=True)
    with step("File system"):
        _run(
            [
                _tool("mke2fs"), "-q", "-F", "-t", "ext2", "-O", _FEATURES, "-b", str(_BLOCK), "-I", "256", "-m", "0",
                "-N", str(len(tree) + 64), "-U", identity.uuid, "-L", identity.label,
                "-E", f"hash_seed={identity.uuid},root_owner=0:0,nodiscard,lazy_itable_init=0",
                image, f"{size_mib(tree, slack_mib)}M",
            ],
            environment,
        )  # fmt: skip
        commands = image.with_suffix(".debugfs")
        commands.write_text(script(tree))
        said = _run([_tool("debugfs"), "-w", "-f", commands, image], environment)
        wrong = [line for line in said.splitlines() if line.strip() and not line.startswith(_CHATTER)]
        if wrong:
            raise bad_input(
                f"debugfs could not fill the image ({wrong[0]}).", "Give the image more slack_mib, or free disk space."
            )
        commands.unlink()
        _run([_tool("e2fsck"), "-f", "-n", image], environment)


def read_file(image: Path, name: PurePosixPath, target: Path) -> bool:
    """Copy the file ``name`` (absolute) of the file system ``image`` to ``target``; false if there is none, or it is empty.

    Raises:
        Failure: bad-input when e2fsprogs is missing.
    """
    if _tool("debugfs") is None:
        raise bad_input("debugfs is not there.", "Install the package e2fsprogs.")
    if '"' in str(name):
        return False
    _run([_tool("debugfs"), "-R", f'dump "{name}" "{target}"', image], {**os.environ, "DEBUGFS_PAGER": "cat", "LC_ALL": "C"})
    return target.is_file() and target.stat().st_size > 0


def _tool(name: str) -> str | None:
    # A user's PATH on Debian has no /usr/sbin.
    return shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin")


def _run(command: list[str | Path | None], environment: Mapping[str, str]) -> str:
    words = [str(word) for word in command]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        last = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:] or ["no message"]
        raise bad_input(f"{Path(words[0]).name} exited with status {done.returncode} ({last[0]}).", "Check the free disk space.")
    return done.stdout + done.stderr
