# SPDX-License-Identifier: BSD-3-Clause
"""Does the network card's model stand what no driver would do?

Random register writes, descriptors that are right or not, frames that are right or not, answers of memory in any order, resets,
saves and loads, under AddressSanitizer and UndefinedBehaviorSanitizer. No operation may do what C++ does not define; each access
outside of memory is in the card's error counter; and after a reset the card receives and sends as it should.

It is the test FuzzTest of the C++ tests (tests/nic/fuzz_test.cc), which does 20,000 operations, with as many as wanted.
"""

import argparse
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from common.arguments import positive
from common.paths import REPOSITORY
from common.progress import run_logged
from harness.build import host_packages
from harness.build.native_checks import build_folder
from harness.checks.registry import Check
from harness.checks.verify.measuring import keep, scratch
from harness.spec.point import Point

NAME = "card-fuzz"
SUMMARY = "10 million random operations on the network card's model under sanitizers: no fault, every bad access counted"
QUICK = ("--operations", "20000")
BESIDES = "It runs no point: the card's model is built with sanitizers and run on this host."

_OPERATIONS = 10_000_000
_SAID = re.compile(r"^fuzz: (\d+) operations, (\d+) frames received, (\d+) sent, (\d+) accesses outside of memory$", re.MULTILINE)
_PASSED = re.compile(r"^\[  PASSED  \] 1 test\.$", re.MULTILINE)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--operations", type=positive, default=_OPERATIONS, metavar="N", help="how many (%(default)s)")
    parser.add_argument("--seed", type=positive, default=1, metavar="N", help="of the first card; each has 5,000 (%(default)s)")


def planned(_: argparse.Namespace) -> list[Point]:
    """What `run` runs: no point."""
    return []


def run(arguments: argparse.Namespace) -> Check:
    """Build the test with the card, run it."""
    host_packages.require(*host_packages.of_groups("tests", "engine"))
    with scratch(NAME) as folder:
        program = _built(folder / "build.log")
        environment = os.environ | {
            "MOSBENCH_FUZZ_OPERATIONS": str(arguments.operations),
            "MOSBENCH_FUZZ_SEED": str(arguments.seed),
        }
        ended = subprocess.run(
            [program, "--gtest_filter=FuzzTest.*"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        check = judge(ended.returncode, ended.stdout, arguments.operations)
        if not check.passed:
            (folder / "output.txt").write_text(ended.stdout, encoding="utf-8")
            print("\n".join(ended.stdout.splitlines()[-20:]))
            keep(folder)
    return check


def _built(log: Path) -> Path:
    """The card and that test with sanitizers, built where `run.py test` builds."""
    scons = Path(sys.executable).with_name("scons")
    jobs = f"-j{len(os.sched_getaffinity(0))}"
    with build_folder() as build:
        program = build / "card-fuzz"
        run_logged("Building the card's fuzz", [scons, "-Q", jobs, f"build_dir={build}", program], log, cwd=REPOSITORY)
    return program


@dataclass(frozen=True)
class _Counts:
    operations: int
    received: int
    sent: int
    refused: int


def judge(status: int, output: str, wanted: int) -> Check:
    """Whether the test says that it did as much as was wanted, and passed."""
    said = _SAID.search(output)
    counts = _Counts(*map(int, said.groups())) if said else _Counts(0, 0, 0, 0)
    passed = status == 0 and _PASSED.search(output) is not None and counts.operations >= wanted
    figure = (
        f"{NAME}: {counts.operations:,} operations, {counts.received:,} frames received and {counts.sent:,} sent, "
        f"{counts.refused:,} accesses outside of memory counted as errors; {'no fault' if passed else 'a fault'}; "
        f"wanted: {wanted:,} operations and no fault"
    )
    return Check(passed and min(counts.received, counts.sent, counts.refused) > 0, figure, counts.operations)
