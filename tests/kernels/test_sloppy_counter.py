# SPDX-License-Identifier: BSD-3-Clause
"""Every interleaving of small programs on two cores over the sloppy-counter library, and over copies of it that are broken.

The library is compiled in user space from the source that goes into the kernel; sloppy/shim.h stands for the kernel's headers and
sloppy/interleave.c describes what is tried and checked.
"""

import re
import subprocess
from pathlib import Path

import pytest
from interleaving import break_source, explore, found, holds

from common.paths import REPOSITORY

LIBRARY = REPOSITORY / "kernels/linux-2.6.35/pk/lib-sloppy-counter/files"
HEADER = "include/linux/mosbench_sloppy.h"
SOURCE = "lib/mosbench_sloppy.c"
TEST = Path(__file__).with_name("sloppy")

# What is broken: (file, text, what stands there instead, what the test must say).
BROKEN = {
    "freeze reads and clears in two steps": (
        SOURCE,
        "had = atomic_xchg(&per_cpu_ptr(slots, cpu)->spares, 0);",
        "had = atomic_read(&per_cpu_ptr(slots, cpu)->spares); atomic_set(&per_cpu_ptr(slots, cpu)->spares, 0);",
        "the central value is not the references in use and the spares",
    ),
    "count adds up the slots without freezing them": (
        SOURCE,
        "int count = atomic_read(central);",
        "int count;\n\n\tif (thawed)\n\t\tmosbench_slots_thaw(slots);\n\tthawed = 0;\n"
        "\tcount = atomic_read(central) - mosbench_slots_spares(slots);",
        "the count misses a reference",
    ),
    "thaw throws away spares": (
        SOURCE,
        "atomic_cmpxchg(&per_cpu_ptr(slots, cpu)->spares, 0, 1);",
        "atomic_set(&per_cpu_ptr(slots, cpu)->spares, 1);",
        "the central value is not the references in use and the spares",
    ),
    "close forgets counters without slots": (
        SOURCE,
        "if (!cmpxchg(slots, NULL, pool->base) || *slots == pool->base)",
        "if (!*slots || *slots == pool->base)",
        "a closed counter has spares",
    ),
    "attach does not see that the counter was closed": (
        SOURCE,
        "if (!cmpxchg(slots, NULL, own)) {",
        "if ((*slots = own)) {",
        "a closed counter has spares",
    ),
    "take does not see that another took": (
        HEADER,
        "seen = mosbench_slot_cmpxchg(slots, have, have - n);",
        "seen = have;\n\t\tatomic_set(&per_cpu_ptr(slots, raw_smp_processor_id())->spares, have - n);",
        "the central value is not the references in use and the spares",
    ),
    "take takes the mark of a thawed slot": (
        HEADER,
        "while (likely(have > n)) {",
        "while (have >= n && have) {",
        "a reference is used after the object was freed",
    ),
    "a full slot gives back the caller's reference too": (
        SOURCE,
        "atomic_sub(have - left, central);\n\t\t\treturn 0;",
        "atomic_sub(have - left, central);\n\t\t\tatomic_sub(n, central);\n\t\t\treturn 1;",
        "the object is never freed",
    ),
    "thawed slots are taken for frozen ones": (
        HEADER,
        "if (atomic_read(&per_cpu_ptr(slots, cpu)->spares))\n\t\t\treturn 0;",
        "if (atomic_read(&per_cpu_ptr(slots, cpu)->spares))\n\t\t\treturn 1;",
        "the central value is not the references in use and the spares",
    ),
    "reserve does not mark the slots as given out": (
        SOURCE,
        "__set_bit(number, pool->given);\n\t\tpool->next = number + 1;",
        "pool->next = number;",
        "slots are given out twice",
    ),
    "released slots stay given out": (
        SOURCE,
        "__clear_bit(number, pool->given);",
        "",
        "slots that were released are not given out again",
    ),
    "put puts into a frozen slot": (
        HEADER,
        "(unsigned int)(have - 1) <= (unsigned int)(threshold - n)",
        "have <= threshold + 1 - n",
        "two cores take and put",
    ),
    "put puts slowly into a frozen slot": (
        SOURCE,
        "while (have > 0) {\n\t\tleft",
        "while (have >= 0) {\n\t\tleft",
        "two cores take and put",
    ),
}


def _run(folder: Path) -> subprocess.CompletedProcess[str]:
    """Compile the library in ``folder`` with the interleaver and run it."""
    shims = folder / "shims"
    sources = [folder / SOURCE, folder / HEADER]
    for name in sorted({name for source in sources for name in re.findall(r"#include <([\w/.]+)>", source.read_text())}):
        header = shims / name
        header.parent.mkdir(parents=True, exist_ok=True)
        # The library's own header is the real one.
        header.write_text(sources[1].read_text() if HEADER.endswith(name) else '#include "shim.h"\n')
    return explore(folder, TEST, shims, folder / "lib")


def _copy(folder: Path) -> None:
    for name in (SOURCE, HEADER):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text((LIBRARY / name).read_text())


def test_invariant_holds_in_every_interleaving(tmp_path: Path) -> None:
    _copy(tmp_path)
    holds(_run(tmp_path), 15)


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_library_is_found(tmp_path: Path, what: str) -> None:
    name, text, instead, message = BROKEN[what]
    _copy(tmp_path)
    break_source(tmp_path / name, text, instead)
    found(_run(tmp_path), what, message)
