# SPDX-License-Identifier: BSD-3-Clause
"""QEMU from Debian's source package with the fast engine's hooks."""

import os
import shutil
from pathlib import Path

from common.cache import cached, hash_code, hash_files
from common.progress import run_logged
from harness.build import debian_archive, qemu_hooks
from harness.build.compiler import version_line
from harness.build.debian_archive import Apt

BINARY = "qemu-system-x86_64"
_SUITE = ("bookworm", "main", "amd64")
_CONFIGURE = (
    "--target-list=x86_64-softmmu",
    "--without-default-features",
    "--without-default-devices",
    "--with-devices-x86_64=mosbench",
    "--enable-tcg",
    "--enable-system",
    "--disable-qom-cast-debug",
    "--disable-debug-info",
    "--disable-werror",
)


def build_qemu() -> Path:
    """Folder with the QEMU binary and ``version``, Debian's version of the source package."""
    inputs = {
        "code": hash_code(Path(__file__), qemu_hooks, debian_archive),
        "hooks": hash_files(qemu_hooks.FAST_ENGINE / "qemu", *qemu_hooks.INTERFACES),
        "compiler": version_line("gcc"),
    }
    return cached("engines", "qemu", inputs, _build_qemu)


def _source() -> Path:
    """Folder with the files of Debian's source package, fetched once: changes of the hooks need no network."""
    inputs = {"package": "qemu", "suite": _SUITE, "hooks for": qemu_hooks.version(), "code": hash_code(debian_archive)}
    return cached("sources", "qemu", inputs, _download) / "files"


def _download(folder: Path) -> None:
    files = folder / "files"
    files.mkdir()
    apt = Apt(folder / "apt", *_SUITE, folder / "download.log", source_packages=True)
    apt.update()
    apt.download_source("qemu", files)
    shutil.rmtree(folder / "apt")


def _build_qemu(folder: Path) -> None:
    source = _source()
    work = folder / "work"
    log = folder / "build.log"
    work.mkdir()
    tree = work / "source"
    version = debian_archive.unpack_source(source, tree, log)
    qemu_hooks.apply(tree)
    build = work / "build"
    build.mkdir()
    # QEMU's configure is to use the system's Python and Meson, not those of our own environment.
    environment = {key: value for key, value in os.environ.items() if key not in ("VIRTUAL_ENV", "PYTHONHOME", "PYTHONPATH")}
    environment["PATH"] = "/usr/bin:/bin:/usr/sbin:/sbin:" + environment.get("PATH", "")
    run_logged("Configuring QEMU", [tree / "configure", *_CONFIGURE], log, cwd=build, environment=environment)
    run_logged("Building QEMU", ["ninja", "-C", build, BINARY], log, environment=environment)
    shutil.copy(build / BINARY, folder / BINARY)
    (folder / "version").write_text(version + "\n")
    shutil.rmtree(work)
