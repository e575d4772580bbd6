# SPDX-License-Identifier: BSD-3-Clause
"""The cluster of databases on a disk with PostgreSQL: what its initdb makes, run on this host, the same bytes each time.

initdb would take the guest thousands of millions of instructions at each boot. Time, process numbers and random numbers, which
make each cluster another one, are fixed by a preloaded library (workloads/postgresql/host/fixed.c); the write-ahead log is begun
anew, so that nothing is left of how the cluster came to be. A large table is made here too: each run would take
more than a quarter of an hour for ten million rows.
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
HOST = REPOSITORY / "workloads" / "postgresql" / "host"
_QUERIES = REPOSITORY / "workloads" / "postgresql" / "src"
"""Folder of queries.h, which says what a row has."""
_PROGRAMS = PurePosixPath("usr/lib/postgresql/15")
_SHARED = PurePosixPath("usr/share/postgresql/15")
_LIBRARIES = PurePosixPath("usr/lib/x86_64-linux-gnu")
# The host's programs run with the host's own C library: these are parts of it.
_OF_GLIBC = re.compile(
    r"(ld-linux.*|lib(BrokenLocale|anl|c|c_malloc_debug|dl|m|mvec|nsl|nss_.*|pthread|resolv|rt|thread_db|util))\.so\..*"
)
_OPTIONS = ("--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions")
_LEFT_OUT = ("postgresql.conf", "postgresql.auto.conf", "pg_internal.init")
"""The configuration comes with the workload: what initdb writes there depends on the host. The last is a server's memory with its
addresses; the next server makes its own."""
_WHILE_LOADING = {
    "wal_level": "minimal", "max_wal_senders": "0", "max_wal_size": "8GB", "fsync": "off", "maintenance_work_mem": "512MB",
    "exit_on_error": "on",
}  # fmt: skip
"""Options of the server that makes a table: a table of the transaction that loads it is not logged then."""
_NOBODY = 65534


def is_for(packages: Collection[str]) -> bool:
    """Whether a disk with ``packages`` has the cluster."""
    return "postgresql-15" in packages


def add_cluster(tree: dict[PurePosixPath, Entry], packages: str, on_disk: Mapping[str, str]) -> None:
    """Add the cluster to the image's ``tree``, whose packages (with PostgreSQL 15) are those of the cache entry ``packages``.

    Where ``on_disk`` has ``rows`` and ``files``, the cluster has the table of the workload with them.

    Raises:
        Failure: bad-input when initdb does not run on this host; its sentence names the log.
    """
    inputs: dict[str, object] = {
        "packages": packages,
        "sources": hash_files(HOST, _QUERIES / "queries.h"),
        "code": hash_code(Path(__file__)),
        "table": dict(on_disk),
    }
    name = "-".join(["postgresql-15", *(f"{key}-{value}" for key, value in on_disk.items())])
    folder = cached("clusters", name, inputs, lambda building: _make(tree, building, on_disk)) / "data"
    tree[CLUSTER] = Entry.folder(0o700, _UID, _GID)
    for path in sorted(folder.rglob("*")):
        inside = CLUSTER / path.relative_to(folder)
        tree[inside] = Entry.folder(0o700, _UID, _GID) if path.is_dir() else Entry.file(path, 0o600, _UID, _GID)


def _make(tree: Mapping[PurePosixPath, Entry], folder: Path, on_disk: Mapping[str, str]) -> None:
    # Not below the cache: as root, initdb runs as another user, who may not read root's folders.
    with tempfile.TemporaryDirectory(prefix="mosbench-cluster-") as name:
        scratch = Path(name)
        _lay_out(tree, scratch)
        log = folder / "build.log"
        library, rows = scratch / "fixed.so", scratch / "rows"
        gcc: list[str | Path] = ["gcc", "-O2", "-Wall", "-Wextra", "-Werror"]
        cure = "Install the packages gcc and libc6-dev."
        fixes: list[str | Path] = [*gcc, "-shared", "-fPIC", "-o", library, HOST / "fixed.c"]
        run_logged("Compiling what fixes initdb's time", fixes, log, cure=cure)
        prints: list[str | Path] = [*gcc, f"-I{_QUERIES}", "-o", rows, HOST / "rows.c"]
        run_logged("Compiling what prints rows", prints, log, cure=cure)
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
        if on_disk:
            (scratch / "table.sql").write_text(_table(on_disk, rows))
            options = [word for key, value in _WHILE_LOADING.items() for word in ("-c", f"{key}={value}")]
            server: list[str | Path] = [programs / "postgres", "--single", "-j", "-D", data, *options, "postgres"]
            # Its prompts go nowhere; what is wrong comes on the error stream.
            script: list[str | Path] = [
                "sh",
                "-c",
                'input=$1; shift; exec "$@" < "$input" > /dev/null',
                "sh",
                scratch / "table.sql",
            ]
            run_logged(f"Table of {int(on_disk['rows']):,} rows", [*script, *fixed, *server], log, cwd=scratch)
        run_logged("Its write-ahead log", [*fixed, programs / "pg_resetwal", data], log, cwd=scratch)
        shutil.copytree(data, folder / "data", ignore=shutil.ignore_patterns(*_LEFT_OUT))


def _table(on_disk: Mapping[str, str], rows: Path) -> str:
    """The commands that make the table: those of `client`, each ended as `postgres --single -j` wants it. The program ``rows``
    prints its rows.

    Loaded in the transaction that made it, its rows need no later visit to be marked as visible to all.
    """
    commands = [
        *(f"CREATE TABLE before_{n} ()" for n in range(int(on_disk["files"]))),
        "BEGIN",
        "CREATE TABLE pairs (key integer NOT NULL, value text NOT NULL)",
        f"COPY pairs FROM PROGRAM '{rows} {on_disk['rows']}' WITH (FREEZE)",
        "ALTER TABLE pairs ADD PRIMARY KEY (key)",
        "COMMIT",
        "CREATE EXTENSION pg_prewarm",
    ]
    return "".join(f"{command};\n\n" for command in commands)


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
