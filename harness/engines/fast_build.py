# SPDX-License-Identifier: BSD-3-Clause
"""Builds the fast engine: QEMU from Debian's source package with our hooks, and the coherence model it loads."""

import os
import platform
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from harness import tools
from harness.cache import cached, hash_files
from harness.debian import Apt
from harness.engines import hooks
from harness.outcome import bad_input
from harness.paths import REPOSITORY
from harness.progress import run_logged

# Bumped when this module builds something else from the same inputs.
_RECIPE = 1
_SUITE = ("bookworm", "main", "amd64")
_CONFIGURE = (
    "--target-list=x86_64-softmmu",
    "--without-default-features",
    "--enable-tcg",
    "--enable-system",
    "--disable-qom-cast-debug",
    "--disable-debug-info",
    "--disable-werror",
)
BINARY = "qemu-system-x86_64"
MODEL = "libcoherence.so"
CARD = "libcard.so"


@dataclass(frozen=True)
class FastBuild:
    """Folders of the two halves; they are cached apart because the model changes more often than the hooks."""

    qemu: Path
    model: Path

    @property
    def binary(self) -> Path:
        return self.qemu / BINARY

    @property
    def library(self) -> Path:
        return self.model / MODEL

    @property
    def card(self) -> Path:
        """The network card and the machines behind its wire."""
        return self.model / CARD

    @property
    def qemu_version(self) -> str:
        """Version of Debian's source package."""
        return (self.qemu / "version").read_text().strip()


def build() -> FastBuild:
    """Both halves, built unless they are in the cache.

    Raises:
        Failure: bad-input on a host that is not x86-64, without a tool, or with another QEMU source.
    """
    machine = platform.machine()
    if machine != "x86_64":
        raise bad_input(f"The fast engine's inline filter is for x86-64 hosts, this one is {machine}.", "Use an x86-64 host.")
    tools.require(*tools.of_groups("engine"))
    return FastBuild(qemu=build_qemu(), model=build_model())


def build_qemu() -> Path:
    """Folder with the QEMU binary and ``version``."""
    inputs = {
        "recipe": _RECIPE,
        "hooks": hash_files(hooks.FAST_ENGINE / "qemu", *hooks.INTERFACES),
        "configure": _CONFIGURE,
        "compiler": compiler("gcc"),
    }
    return cached("engines", "qemu", inputs, _build_qemu)


def build_model() -> Path:
    """Folder with the shared objects that QEMU loads: the coherence model and the network card."""
    inputs = {
        "recipe": _RECIPE,
        "sources": hash_files(hooks.FAST_ENGINE / "model", REPOSITORY / "native", REPOSITORY / "SConstruct"),
        "compiler": compiler("g++"),
    }
    return cached("engines", "model", inputs, _build_model)


def compiler(name: str) -> str:
    """First line of the compiler's --version: part of what decides a build's result.

    Raises:
        Failure: bad-input, when it does not run.
    """
    try:
        done = subprocess.run([name, "--version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise bad_input(f"The compiler {name} does not run.", f"Install the package {name}.") from error
    return done.stdout.splitlines()[0]


def _build_qemu(folder: Path) -> None:
    work = folder / "work"
    log = folder / "build.log"
    work.mkdir()
    apt = Apt(work / "apt", *_SUITE, log, source_packages=True)
    apt.update()
    tree, version = apt.unpack_source("qemu")
    hooks.apply(tree)
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


def _build_model(folder: Path) -> None:
    log = folder / "build.log"
    build = folder / "work"
    scons = Path(sys.executable).with_name("scons")
    made = (MODEL, CARD)
    targets = [build / name for name in made]
    run_logged("Building coherence model and network card", [scons, "-Q", f"build_dir={build}", *targets], log, cwd=REPOSITORY)
    for name in made:
        shutil.copy(build / name, folder / name)
    shutil.rmtree(build)
