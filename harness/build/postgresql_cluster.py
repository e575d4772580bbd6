# SPDX-License-Identifier: BSD-3-Clause
"""The cluster of databases on a disk with PostgreSQL: what its initdb makes, run on this host, the same bytes each time.

initdb would take the guest thousands of millions of instructions at each boot. Time, process numbers and random numbers, which
make each cluster another one, are fixed by a preloaded library (workloads/postgresql/host/fixed.c); the write-ahead log is begun
anew, so that nothing is left of how the cluster came to be.
"""

import os
import re
import shutil
import stat
import tempfile
from collections.abc import Collection, Mapping
from pathlib import Path, PurePosixPath

from common.cache import cached, hash_code, hash_files
from common.paths import REPOSITORY
from common.progress import run_logged
from harness.build.ext2 import Entry

# In the image; its files are the user postgres's of disk-images/overlay/etc/passwd.
CLUSTER = PurePosixPath("var/lib/postgresql/cluster")
_UID = _GID = 103
SOURCE = REPOSITORY / "workloads" / "postgresql" / "host" / "fixed.c"
_PROGRAMS = PurePosixPath("usr/lib/postgresql/15")
_SHARED = PurePosixPath("usr/share/postgresql/15")
_LIBRARIES = PurePosixPath("usr/lib/x86_64-linux-gnu")
# The host's programs run with the host's own C library: these are parts of it.
_OF_GLIBC = re.compile(
    r"(ld-linux.*|lib(BrokenLocale|anl|c|c_malloc_debug|dl|m|mvec|nsl|nss_.*|pthread|resolv|rt|thread_db|util))\.so\..*"
)
_OPTIONS = ("--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions")
# The configuration comes with the workload. What initdb writes there depends on the host.
_LEFT_OUT = ("postgresql.conf", "postgresql.auto.conf")
_NOBODY = 65534


def is_for(packages: Collection[str]) -> bool:
    """Whether a disk with ``packages`` has the cluster."""
    return "postgresql-15" in packages


def add_cluster(tree: dict[PurePosixPath, Entry], packages: str) -> None:
    """Add the cluster to the image's ``tree``, whose packages (with PostgreSQL 15) are those of the cache entry ``packages``.

    Raises:
        Failure: bad-input when initdb does not run on this host; its sentence names the log.
    """
    inputs: dict[str, object] = {"packages": packages, "library": hash_files(SOURCE), "code": hash_code(Path(__file__))}
    folder = cached("clusters", "postgresql-15", inputs, lambda building: _make(tree, building)) / "data"
    tree[CLUSTER] = Entry.folder(0o700, _UID, _GID)
    for path in sorted(folder.rglob("*")):
        inside = CLUSTER / path.relative_to(folder)
        tree[inside] = Entry.folder(0o700, _UID, _GID) if path.is_dir() else Entry.file(path, 0o600, _UID, _GID)


def _make(tree: Mapping[PurePosixPath, Entry], folder: Path) -> None:
    # Not below the cache: as root, initdb runs as another user, who may not read root's folders.
    with tempfile.TemporaryDirectory(prefix="mosbench-cluster-") as name:
        scratch = Path(name)
        _lay_out(tree, scratch)
        log = folder / "build.log"
        library = scratch / "fixed.so"
        compile_it: list[str | Path] = ["gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", library, SOURCE]
        run_logged("Compiling what fixes initdb's time", compile_it, log, cure="Install the packages gcc and libc6-dev.")
        user: list[str | Path] = []
        if os.geteuid() == 0:
            user = ["setpriv", f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups"]
            for path in (scratch, *scratch.rglob("*")):
                os.chown(path, _NOBODY, _NOBODY, follow_symlinks=False)
        programs, data = scratch / _PROGRAMS / "bin", scratch / "data"
        # No PATH: initdb would enter the locales that this host's `locale` lists.
        fixed: list[str | Path] = [
            *user, "env", "--ignore-environment", "PATH=/nonexistent", "LC_ALL=C", "TZ=GMT0",
            f"LD_LIBRARY_PATH={scratch / 'libraries'}", f"LD_PRELOAD={library}",
        ]  # fmt: skip
        run_logged("Database cluster", [*fixed, programs / "initdb", f"--pgdata={data}", *_OPTIONS], log, cwd=scratch)
        run_logged("Its write-ahead log", [*fixed, programs / "pg_resetwal", data], log, cwd=scratch)
        shutil.copytree(data, folder / "data", ignore=shutil.ignore_patterns(*_LEFT_OUT))


def _lay_out(tree: Mapping[PurePosixPath, Entry], scratch: Path) -> None:
    """PostgreSQL's programs and files at their places below ``scratch``, and the libraries they may need in ``libraries``."""
    (scratch / "libraries").mkdir()
    for path, entry in tree.items():
        if path.is_relative_to(_PROGRAMS) or path.is_relative_to(_SHARED):
            target = scratch / path
        elif path.parent == _LIBRARIES and ".so." in path.name and not _OF_GLIBC.fullmatch(path.name):
            target = scratch / "libraries" / path.name
        else:
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        if entry.content is not None:
            shutil.copyfile(entry.content, target)
            target.chmod(0o755)
        elif stat.S_ISLNK(entry.mode):
            target.symlink_to(entry.target)
