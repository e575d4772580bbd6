# SPDX-License-Identifier: BSD-3-Clause
"""`run.py kernel build|diff KERNEL [--fixes FIXES]`."""

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from common.outcome import bad_input
from harness.build import host_packages, kernel, kernel_source
from harness.build import source_changes as changes
from harness.spec import kernel as kernels
from harness.spec import point


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("build", "diff"), help="build it; print its fixes as a patch against the source")
    parser.add_argument("kernel", nargs="?", default=kernels.default_source(), help="SOURCE or SOURCE:FIXES (%(default)s)")
    parser.add_argument("--fixes", metavar="FIXES", help="stock, pk (every fix) or NAME+NAME; `run.py list fixes` has the names")
    parser.add_argument("--pieces", action="store_true", help="diff: also what every build of the source needs")


def main(arguments: argparse.Namespace) -> int:
    text = arguments.kernel
    if arguments.fixes is not None:
        if ":" in text:
            raise bad_input(f"{text} names fixes, and so does --fixes.", "Give one of them.")
        text = f"{text}:{arguments.fixes}"
    source, fixes = point.parse_kernel(text)
    host_packages.require(*host_packages.of_groups("kernel"))
    if arguments.action == "build":
        print(kernel.build(source, fixes).folder)
    else:
        sys.stdout.buffer.write(difference(source, fixes, arguments.pieces).encode("latin-1"))
    return 0


def difference(source: str, fixes: tuple[str, ...], with_pieces: bool) -> str:
    """What ``fixes`` (and, if asked for, the pieces of every build) change in the source, as `patch -p1` reads it, in Latin-1."""
    recipe = kernels.load_recipe(source)
    chosen = kernels.chosen_fixes(recipe, fixes)
    pieces = recipe.pieces if with_pieces else ()
    origin, _ = kernel_source.find_source(recipe)
    with tempfile.TemporaryDirectory(prefix="mosbench-diff-") as name:
        before, after = Path(name, "a"), Path(name, "b")
        before.mkdir()
        with kernel_source.readable(recipe, origin) as tree:
            changes.partial_tree(tree, [*pieces, *chosen], before)
        shutil.copytree(before, after)
        for piece in (*pieces, *chosen):
            changes.apply(piece, after)
        return changes.difference(before, after)
