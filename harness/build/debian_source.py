# SPDX-License-Identifier: BSD-3-Clause
"""Debian's source packages, each in a version that what is built from it is written for."""

import shutil
from pathlib import Path

from common.cache import cached, hash_code
from common.outcome import bad_input
from harness.build import debian_archive
from harness.build.debian_archive import Apt

_SUITE = ("bookworm", "main", "amd64")
VERSION_FILE = "version"
"""Beside the tree: Debian's version of it."""


def inputs(package: str, version: str) -> dict[str, object]:
    """What the tree follows from, as part of the key of what is built from it."""
    return {"package": package, "version": version, "suite": _SUITE, "code": hash_code(Path(__file__), debian_archive)}


def source(package: str, version: str) -> Path:
    """The source tree of ``package`` of Debian's release, its patches applied, fetched once.

    ``version`` is the upstream one, or what it begins with up to a dot: 15 is 15.18 too.

    Raises:
        Failure: bad-input without a source of Debian packages, without that package, or when it has another version.
    """
    return cached("sources", package, inputs(package, version), lambda folder: _download(package, version, folder)) / "tree"


def _download(package: str, wanted: str, folder: Path) -> None:
    files, log = folder / "files", folder / "download.log"
    files.mkdir()
    apt = Apt(folder / "apt", *_SUITE, log, source_packages=True)
    apt.update()
    apt.download_source(package, files)
    version = debian_archive.unpack_source(files, folder / "tree", log)
    if not version.startswith((f"{wanted}-", f"{wanted}+", f"{wanted}.")):
        raise bad_input(
            f"Debian's source package {package} is {version}, and what is built from it here is written for {wanted}.",
            "Use Debian 12's.",
        )
    (folder / VERSION_FILE).write_text(f"{version}\n")
    shutil.rmtree(folder / "apt")
    shutil.rmtree(files)
