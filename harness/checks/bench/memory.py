# SPDX-License-Identifier: BSD-3-Clause
"""How much host memory does the engine take at 48 cores?

The largest resident size of the emulator's process, against the guest memory that the snapshot at the end of the region holds:
pages that the guest has written something into (pages of zeros are left out, so the bound is a little stricter than it says).
"""

import argparse
from pathlib import Path

from rich.table import Table

from common.terminal import console
from harness.build import image, kernel
from harness.checks.bench.guest import measure
from harness.checks.registry import Check
from harness.checks.verify.measuring import point, prepare_host, scratch
from harness.run.engines.fast import FastEngine
from harness.run.forecast import MEMORY_BASE, MEMORY_FACTOR

NAME = "memory"
SUMMARY = "host memory at 48 cores: at most 1.5 x the guest memory touched + 1 GiB"

_POINTS = (
    "workload=micro:open-close * cores=48",
    "workload=micro:stream * cores=48",
    "workload=memcached * cores=48",
)


def allowed(touched: int) -> float:
    """Bytes of host memory for a guest that has touched so many bytes."""
    return MEMORY_FACTOR * touched + MEMORY_BASE


def run(arguments: argparse.Namespace) -> Check:
    """Boot each point, print touched, allowed and used."""
    prepare_host()
    table = Table("point", title="Host memory", title_justify="left")
    for heading in ("touched by the guest, MiB", "allowed, MiB", "peak, MiB", "peak / allowed"):
        table.add_column(heading, justify="right")
    worst = 0.0
    with scratch(NAME) as folder:
        for number, text in enumerate(_POINTS):
            touched, peak = _measure(text, folder / str(number))
            share = peak / allowed(touched)
            worst = max(worst, share)
            table.add_row(
                point(text).title,
                f"{touched / 2**20:.0f}",
                f"{allowed(touched) / 2**20:.0f}",
                f"{peak / 2**20:.0f}",
                f"{share:.2f}",
            )
    console().print(table)
    return Check(worst <= 1, f"{NAME}: peak {worst:.2f} x of 1.5 x touched + 1 GiB; wanted: at most 1", len(_POINTS))


def _measure(text: str, folder: Path) -> tuple[int, int]:
    """Bytes that the guest of a point has touched, and the emulator's largest resident size in bytes."""
    (folder / "engine").mkdir(parents=True)
    wanted = point(text)
    built, disk = kernel.build(wanted.source, wanted.fixes), image.of(wanted)
    command = FastEngine().command(wanted, built, disk, folder)
    used = measure(wanted.title, command, folder)
    snapshot = folder / "engine" / "memory.elf"
    touched = snapshot.stat().st_size  # the headers are nothing beside the pages
    snapshot.unlink()
    return touched, used.peak_bytes
