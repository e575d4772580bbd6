# SPDX-License-Identifier: BSD-3-Clause
"""Host tools and libraries: what needs each, which Debian package has it, and installing those that are missing."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from common import cache
from common.locks import locked
from common.outcome import Failure, bad_input
from common.paths import cache_root
from common.progress import run_logged
from harness.spec import kernel as kernels


@dataclass(frozen=True)
class Package:
    """One Debian package that something here needs."""

    name: str
    use: str
    """What it is for, in a few words."""
    groups: frozenset[str]
    """Parts of the product that need it: `GROUPS`."""


def _table(rows: Iterable[tuple[str, str, str]]) -> dict[str, Package]:
    return {name: Package(name, use, frozenset(groups.split())) for name, groups, use in rows}


_OWN = _table(
    [
        ("gcc", "engine kernel image", "C compiler"),
        ("g++", "engine", "C++ compiler of the coherence model and the records library"),
        ("libc6-dev", "engine kernel image", "C headers and static libc of the guest's programs"),
        ("binutils", "engine kernel image", "linker"),
        ("pkg-config", "engine", "finds QEMU's libraries"),
        ("dpkg-dev", "engine image", "unpacks Debian's source packages"),
        ("xz-utils", "engine kernel", "unpacks sources"),
        ("make", "image", "builds programs of the image from source"),
        ("patch", "engine kernel", "applies changes to sources"),
        ("ninja-build", "engine", "builds QEMU"),
        ("meson", "engine", "configures QEMU"),
        ("python3-venv", "engine", "QEMU's configure and our own environment"),
        ("libglib2.0-dev", "engine", "QEMU's base library"),
        ("libpixman-1-dev", "engine", "QEMU's display library, which its build asks for"),
        ("libfdt-dev", "engine", "QEMU's device trees"),
        ("zlib1g-dev", "engine", "compression and CRC-32 in QEMU and the records library"),
        ("seabios", "engine", "the guest's firmware"),
        ("qemu-system-data", "engine", "the guest's option ROMs, linuxboot among them"),
        ("ipxe-qemu", "engine", "the guest's network firmware"),
        ("ccache", "kernel image", "kernels with different fixes share the objects they have in common"),
        ("coccinelle", "kernel", "applies the fixes of the kernels (semantic patches)"),
        ("libdb5.3-dev", "image", "Berkeley DB: psearchy's index, and Exim"),
        ("libpcre2-dev", "image", "regular expressions of Exim"),
        ("libcrypt-dev", "image", "what Exim's build asks for"),
        ("e2fsprogs", "image", "makes and checks the image's ext2 file system"),
        ("util-linux", "engine", "setpriv: ends an engine with the process that started it"),
        (
            "qemu-system-x86",
            "bench tests",
            "the unmodified QEMU: speed is compared with it, the network card talks to its guest",
        ),
        ("slurm-wlm", "tests", "a Slurm cluster on this host, on which its executor is tested"),
        ("munge", "tests", "authentication of that cluster"),
        ("libgtest-dev", "tests", "unit tests of the C++ parts"),
        ("chromium", "browser", "opens the report in tests"),
        ("chromium-driver", "browser", "lets tests click in the report"),
        ("poppler-utils", "browser", "reads the report as it is printed"),
        ("gdb", "tests", "stops a guest where its region begins, in a test"),
    ]
)
"""Debian package name -> row, but for what only kernel sources ask for."""

LOCK = ".debian-packages.lock"
"""In the cache's folder: who installs packages holds it."""

GROUPS = ("engine", "kernel", "image", "tests", "browser", "bench")


def packages() -> dict[str, Package]:
    """Debian package name -> row: our own, then what the recipes of the kernel sources name."""
    known = dict(_OWN)
    for source in kernels.sources():
        recipe = kernels.load_recipe(source)
        asked = {recipe.package: f"source of {source}"} if recipe.package else {}
        asked |= dict.fromkeys((*recipe.tools.values(), *recipe.headers.values()), f"builds {source}")
        for name, use in asked.items():
            one = known.get(name, Package(name, "", frozenset()))
            uses = one.use if name in _OWN else ", ".join(filter(None, (one.use, use)))
            known[name] = Package(name, uses, one.groups | {"kernel"})
    return known


def installed(names: Iterable[str]) -> dict[str, str]:
    """Version of each of the packages ``names`` that is installed, by name."""
    asked = ["dpkg-query", "--show", "--showformat", "${Package} ${db:Status-Status} ${Version}\n", *names]
    try:
        done = subprocess.run(asked, capture_output=True, text=True, check=False)
    except OSError:
        return {}
    rows = [line.split() for line in done.stdout.splitlines()]
    return {row[0]: row[2] for row in rows if len(row) == 3 and row[1] == "installed"}


def of_groups(*groups: str) -> list[str]:
    """Names of the packages that any of ``groups`` needs."""
    return [package.name for package in packages().values() if package.groups & set(groups)]


def require(*names: str) -> None:
    """Make sure that the packages ``names`` are installed: missing ones are, where that needs no password.

    Raises:
        Failure: bad-input, with one line to paste.
    """
    missing = _missing(names)
    if not missing:
        return
    cache.refuse_to_make("Debian packages", " ".join(missing))
    paste = f"apt-get update && apt-get install --yes --no-install-recommends {' '.join(missing)}"
    if shutil.which("apt-get") is None:
        raise bad_input(
            f"These packages are missing, and there is no apt-get: {' '.join(missing)}.", "Use a Debian 12 machine or container."
        )
    privilege = privileged_prefix()
    if privilege is None:
        raise bad_input(f"{len(missing)} Debian packages are missing.", f"Paste: sudo sh -c '{paste}'")
    # apt-get itself waits for another one's installation, but not for its package lists.
    cache_root().mkdir(parents=True, exist_ok=True)
    with locked(cache_root() / LOCK, "Debian packages", passing=True):
        if missing := _missing(names):
            _install(privilege, missing, paste)


def _missing(names: Sequence[str]) -> list[str]:
    there = installed(names)
    return [name for name in names if name not in there]


def privileged_prefix() -> list[str] | None:
    """What to put before a command so that it runs as root: nothing for root, sudo where it asks no password; None if neither."""
    if os.geteuid() == 0:
        return []
    if shutil.which("sudo") and subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False).returncode == 0:
        return ["sudo", "-n"]
    return None


def _install(privilege: Sequence[str], names: Sequence[str], paste: str) -> None:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    apt = [*privilege, "apt-get", "-o", "DPkg::Lock::Timeout=300"]
    handle, name = tempfile.mkstemp(prefix="mosbench-apt-", suffix=".log")
    os.close(handle)
    log = Path(name)
    cure = f"See {log}, or paste: {paste}"
    # Unpacking is far quicker without a sync to the disk for every file of every package.
    options = ["install", "--yes", "--no-install-recommends", "-o", "Dpkg::Options::=--force-unsafe-io"]
    try:
        run_logged("Reading package lists", [*apt, "update"], log, environment=environment, cure=cure, gently=True)
        what = f"Installing {len(names)} Debian packages"
        run_logged(what, [*apt, *options, *names], log, environment=environment, cure=cure, gently=True)
    except Failure as failure:
        raise bad_input(failure.what, cure) from failure
    log.unlink()
