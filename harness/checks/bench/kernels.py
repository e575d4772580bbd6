# SPDX-License-Identifier: BSD-3-Clause
"""What does another fix cost the builder of kernels, once there is a kernel of the source?

Both kernels are built in a cache that has their sources and no kernel and no object yet: first the stock kernel, then one with a
fix. Processor time of all processes is what is compared.
"""

import argparse
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.table import Table

from common.paths import cache_root
from common.terminal import console
from harness.build import kernel
from harness.build.kernel_source import find_source
from harness.checks.registry import Check
from harness.checks.verify.measuring import add_source_option, prepare_host, scratch, variable
from harness.spec.kernel import default_source, load_recipe
from harness.spec.point import Point

NAME = "kernels"
SUMMARY = "processor time of building a kernel with one fix, once the stock kernel is built: at most half of that kernel's"
QUICK = None
BESIDES = "It runs no point: it builds two kernels, which are not kept. The second is done in a part of the first one's minutes."

_SHARE = 0.5
_EMPTY = ("kernels", "ccache")
"""Kinds of entries of the cache that the builds begin without."""


def configure(parser: argparse.ArgumentParser) -> None:
    add_source_option(parser, "kernel source (the default one)")
    parser.add_argument("--fix", metavar="NAME", help="the fix (default: the source's first)")


def planned(arguments: argparse.Namespace) -> list[Point]:
    """None."""
    return []


def run(arguments: argparse.Namespace) -> Check:
    """Build both, print what each took."""
    prepare_host()
    source = arguments.source or default_source()
    recipe = load_recipe(source)
    fix = arguments.fix or next(piece.name for piece in recipe.fixes.values() if piece.number is not None)
    find_source(recipe)  # fetched, where that takes time
    table = Table("kernel", title="Building kernels", title_justify="left")
    table.add_column("CPU s", justify="right")
    with scratch(NAME) as folder, _cache_without_kernels(folder):
        took = {name: _processor_seconds(source, fixes) for name, fixes in (("stock", ()), (fix, (fix,)))}
    for name, seconds in took.items():
        table.add_row(f"{source}:{name}", f"{seconds:.0f}")
    console().print(table)
    share = took[fix] / took["stock"]
    return Check(share <= _SHARE, f"{NAME}: {source}:{fix} takes {share:.2f} of the stock kernel's time; wanted: {_SHARE:g}", 1)


def _processor_seconds(source: str, fixes: tuple[str, ...]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    kernel.build(source, fixes)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@contextmanager
def _cache_without_kernels(folder: Path) -> Iterator[None]:
    """Let the cache be ``folder``, where all but `_EMPTY` is that of the user's."""
    for kind in cache_root().iterdir():
        if kind.name not in _EMPTY:
            (folder / kind.name).symlink_to(kind)
    with variable("MOSBENCH_CACHE", str(folder)):
        yield
