# SPDX-License-Identifier: BSD-3-Clause
"""Every interleaving of small programs on two cores over the spare references of Linux 6.1 and their user for routes, and over
copies of these that are broken.

The sources are compiled in user space as they go into the kernel; spares/shim.h stands for the kernel's headers and
spares/interleave.c describes what is tried and checked.
"""

import re
import subprocess
from pathlib import Path

import pytest
from interleaving import break_source, explore, found, holds

from common.paths import REPOSITORY

FIXES = REPOSITORY / "kernels" / "linux-6.1" / "pk"
LIBRARY = FIXES / "lib-spare-references" / "files"
ROUTES = FIXES / "04-dst-count" / "files"
SOURCES = {
    "spares.h": LIBRARY / "include/linux/mosbench_spares.h",
    "spares.c": LIBRARY / "lib/mosbench_spares.c",
    "dst.h": ROUTES / "include/net/mosbench_dst.h",
    "dst.c": ROUTES / "net/core/mosbench_dst.c",
}
TEST = Path(__file__).with_name("spares")

# What is broken: (file, text, what stands there instead, what the test must say).
BROKEN = {
    "a drain sets the slot without looking again": (
        "spares.c",
        "seen = cmpxchg(slot, old, old & MOSBENCH_SPARE_ADDRESS);",
        "seen = old, (void)READ_ONCE(*slot), *slot = old & MOSBENCH_SPARE_ADDRESS;",
        "the kernel would warn",
    ),
    "a drain leaves the second core out": (
        "spares.c",
        "for_each_possible_cpu(cpu) {",
        "for (cpu = 0; cpu < 1; cpu++) {",
        "a dead route has spares",
    ),
    "a spare is kept where there is none beside it": (
        "spares.h",
        "mosbench_spares_of(old) - 1 < MOSBENCH_SPARES_MAX - 1",
        "mosbench_spares_of(old) < MOSBENCH_SPARES_MAX",
        "a dead route has spares",
    ),
    "a taken spare is not counted down in one step": (
        "spares.h",
        "cmpxchg(slot, old, old - MOSBENCH_SPARE_ONE) == old",
        "(READ_ONCE(*slot), *slot = old - MOSBENCH_SPARE_ONE, true)",
        "the count is not",
    ),
    "who keeps does not look for deaths afterwards": (
        "dst.c",
        "if (unlikely(atomic_read(&deaths) != before)) {",
        "if (before == -1) {",
        "a dead route has spares",
    ),
    "what had to make room is forgotten": (
        "dst.c",
        "drop = leave_one(evicted, number);",
        "drop = NULL;",
        "the count is not",
    ),
    "one reference makes two spares": ("dst.c", "atomic_inc(&dst->__refcnt);", "", "the count is not"),
}


def run(folder: Path) -> subprocess.CompletedProcess[str]:
    """Compile the sources in ``folder`` with the interleaver and run it."""
    texts = {name: (folder / path.name).read_text() for name, path in SOURCES.items()}
    for name in sorted({name for text in texts.values() for name in re.findall(r"#include <([\w/.]+)>", text)}):
        header = folder / "shims" / name
        header.parent.mkdir(parents=True, exist_ok=True)
        own = folder / header.name
        header.write_text(own.read_text() if own.is_file() else '#include "shim.h"\n')
    # The kernel's net/dst.h includes the fix's header.
    (folder / "shims/net/dst.h").write_text('#include "shim.h"\n#include <net/mosbench_dst.h>\n')
    return explore(folder, TEST, folder / "shims", folder)


def copy(folder: Path) -> None:
    for path in SOURCES.values():
        (folder / path.name).write_text(path.read_text())


def test_counts_hold_in_every_interleaving(tmp_path: Path) -> None:
    copy(tmp_path)
    holds(run(tmp_path), 9)


@pytest.mark.parametrize("what", BROKEN)
def test_what_is_broken_is_found(tmp_path: Path, what: str) -> None:
    name, text, instead, message = BROKEN[what]
    copy(tmp_path)
    break_source(tmp_path / SOURCES[name].name, text, instead)
    found(run(tmp_path), what, message)
