# SPDX-License-Identifier: BSD-3-Clause
"""lwIP from Debian's source package: TCP of the client machines behind the network card (native/load)."""

import shutil
from pathlib import Path

from common.cache import cached, hash_code
from common.outcome import bad_input
from harness.build import debian_archive
from harness.build.debian_archive import Apt

_SUITE = ("bookworm", "main", "amd64")
_VERSION = "2.1.3"


def inputs() -> dict[str, object]:
    """What the tree follows from, as part of the key of what is built from it."""
    return {"package": "lwip", "version": _VERSION, "suite": _SUITE, "code": hash_code(Path(__file__), debian_archive)}


def source() -> Path:
    """The source tree, Debian's patches applied, fetched once.

    Raises:
        Failure: bad-input without a source of Debian packages, or when it has another version.
    """
    return cached("sources", "lwip", inputs(), _download) / "tree"


def _download(folder: Path) -> None:
    files, log = folder / "files", folder / "download.log"
    files.mkdir()
    apt = Apt(folder / "apt", *_SUITE, log, source_packages=True)
    apt.update()
    apt.download_source("lwip", files)
    version = debian_archive.unpack_source(files, folder / "tree", log)
    if not version.startswith(f"{_VERSION}+"):
        raise bad_input(
            f"Debian's source package lwip is {version}, the network card's clients are written for {_VERSION}.",
            "Use Debian 12's.",
        )
    shutil.rmtree(folder / "apt")
    shutil.rmtree(files)
