# SPDX-License-Identifier: BSD-3-Clause
"""Builds the fast engine: QEMU with our hooks, and the coherence model it loads."""

import platform
from dataclasses import dataclass
from pathlib import Path

from common.outcome import bad_input
from harness.build import host_packages
from harness.build.coherence_model import CARD, MODEL, build_model
from harness.build.qemu import BINARY, build_qemu


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
    host_packages.require(*host_packages.of_groups("engine"))
    return FastBuild(qemu=build_qemu(), model=build_model())
