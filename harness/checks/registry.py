# SPDX-License-Identifier: BSD-3-Clause
"""Checks: what `run.py verify NAME` and `run.py bench NAME` run.

A check is a module of `harness.checks.verify` or `harness.checks.bench` with ``NAME``, ``SUMMARY`` and
``run(arguments: argparse.Namespace) -> Check``; what it takes its ``configure(parser)`` says, none without that.
``planned(arguments)`` says which points it would run, ``BESIDES`` in a sentence what it does besides, or finds as it goes,
``extra_config(source)`` what its kernels have in their configuration besides, and ``REUSES`` that complete runs of the points
stand in for new ones.
One that takes long has ``QUICK`` too: the arguments with which `run.py test` runs it, or None where no run is short enough.
"""

import argparse
import importlib
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from types import ModuleType

from harness.run import many
from harness.spec.point import Point


@dataclass(frozen=True)
class Check:
    """How a check ended: ``figure`` is one line with what was measured and what was wanted.

    ``judged`` counts what it judged (points, counters, rows): a check that went over an empty list has shown nothing, and has not
    passed, whatever it ``held``. None: it was skipped, and the figure says why.
    """

    held: bool
    figure: str
    judged: int | None

    @property
    def passed(self) -> bool:
        return self.held and self.judged != 0

    @property
    def line(self) -> str:
        """What is printed last."""
        return self.figure + ("; nothing was judged, which is no success" if self.judged == 0 else "")


@dataclass(frozen=True)
class Named:
    """A check that can be run."""

    name: str
    summary: str
    run: Callable[[list[str]], Check]
    quick: tuple[str, ...] | None = ()
    """Arguments for a run that does not take long; None: there is none."""
    planned: Callable[[list[str]], Sequence[Point] | None] = lambda words: None
    """The points that it would run with these arguments; None: it finds them as it goes."""
    besides: str = ""
    """What it does besides running these points, or cannot tell before; empty: nothing."""
    reuses: bool = False
    """Whether a complete run that is there stands in for a new one."""
    extra_config: many.ExtraConfig = many.as_it_is


def find(package: ModuleType) -> dict[str, Named]:
    """The checks in a package, by name."""
    found = {}
    command = package.__name__.rpartition(".")[2]
    for info in pkgutil.iter_modules(package.__path__):
        module = importlib.import_module(f"{package.__name__}.{info.name}")
        if hasattr(module, "NAME"):
            found[module.NAME] = Named(
                module.NAME,
                module.SUMMARY,
                partial(_run, command, module),
                getattr(module, "QUICK", ()),
                partial(_planned, command, module),
                getattr(module, "BESIDES", ""),
                getattr(module, "REUSES", False),
                getattr(module, "extra_config", many.as_it_is),
            )
    return dict(sorted(found.items()))


def _run(command: str, module: ModuleType, words: list[str]) -> Check:
    ended: Check = module.run(_arguments(command, module, words))
    return ended


def _planned(command: str, module: ModuleType, words: list[str]) -> Sequence[Point] | None:
    if not hasattr(module, "planned"):
        return None
    found: Sequence[Point] = module.planned(_arguments(command, module, words))
    return found


def _arguments(command: str, module: ModuleType, words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog=f"run.py {command} {module.NAME}", description=module.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    if hasattr(module, "configure"):
        module.configure(parser)
    return parser.parse_args(words)
