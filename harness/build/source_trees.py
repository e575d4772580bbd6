# SPDX-License-Identifier: BSD-3-Clause
"""Kernel sources that are no Debian package: what identifies a tree, and the tarball from kernel.org."""

import hashlib
import json
import os
import re
import shutil
import tempfile
import urllib.request
from pathlib import Path

from common.cache import cached
from common.outcome import bad_input
from common.paths import cache_root
from common.progress import step

_TIMEOUT_SECONDS = 20


def digest(source: Path) -> str:
    """SHA-256 of a tarball, or over names, execute bits and contents of a folder's files (without .git).

    Remembered in the cache by names, sizes and times, because reading a kernel's 33,000 files takes seconds.
    """
    if source.is_file():
        with step(f"Reading {source.name}"), open(source, "rb") as handle:
            return hashlib.file_digest(handle, "sha256").hexdigest()
    files = tree_files(source)
    listing = hashlib.sha256()
    for path in files:
        facts = path.lstat()
        listing.update(repr((str(path), facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns, facts.st_mode)).encode())
    memory = cache_root() / "trees" / listing.hexdigest()
    if memory.is_file():
        return str(json.loads(memory.read_text())["sha256"])
    total = hashlib.sha256()
    with step(f"Reading {source}"):
        for path in files:
            content = os.readlink(path).encode() if path.is_symlink() else path.read_bytes()
            total.update(f"{path.relative_to(source)}\0{os.access(path, os.X_OK)}\0".encode())
            total.update(hashlib.sha256(content).digest())
    memory.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=memory.parent, delete=False) as written:
        written.write(json.dumps({"sha256": total.hexdigest()}).encode())
    Path(written.name).rename(memory)
    return total.hexdigest()


def tree_files(tree: Path) -> list[Path]:
    """Every file and symbolic link below ``tree``, sorted, without .git."""
    out: list[Path] = []
    for folder, folders, names in os.walk(tree):
        if ".git" in folders:
            folders.remove(".git")
        out += [Path(folder, name) for name in names]
        out += [Path(folder, name) for name in folders if Path(folder, name).is_symlink()]
    return sorted(out)


def download(name: str, url: str, checksums: str, obtain: str) -> Path:
    """The tarball at ``url``, fetched once and checked against the list of checksums that kernel.org keeps beside it.

    Raises:
        Failure: bad-input, with what the user can do (``obtain``), when there is no way to it or its content is wrong.
    """
    file = url.rpartition("/")[2]
    return cached("sources", name, {"url": url}, lambda folder: _download(name, url, checksums, obtain, folder / file)) / file


def _download(name: str, url: str, checksums: str, obtain: str, path: Path) -> None:
    try:
        with step(f"Fetching {path.name}"):
            with urllib.request.urlopen(checksums, timeout=_TIMEOUT_SECONDS) as answer:
                listed = answer.read().decode("ascii", errors="replace")
            with urllib.request.urlopen(url, timeout=_TIMEOUT_SECONDS) as answer, open(path, "wb") as handle:
                shutil.copyfileobj(answer, handle)
    except OSError as error:
        shutil.rmtree(path.parent)
        raise bad_input(
            f"No source of {name} is named in the settings, and {url} cannot be fetched ({error}).", obtain
        ) from error
    wanted = re.search(rf"^([0-9a-f]{{64}})  {re.escape(path.name)}$", listed, re.MULTILINE)
    with open(path, "rb") as handle:
        found = hashlib.file_digest(handle, "sha256").hexdigest()
    if wanted is None or wanted[1] != found:
        shutil.rmtree(path.parent)
        why = "has no entry for it" if wanted is None else f"says {wanted[1]}"
        raise bad_input(f"{url} has the SHA-256 {found}, but {checksums} {why}.", obtain)
