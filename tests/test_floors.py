# SPDX-License-Identifier: BSD-3-Clause
"""The floors of the house: Python imports run down only, and never in a circle (see docs/architecture.md)."""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from common.paths import REPOSITORY

FLOORS = (
    "common",
    "analysis.attribute",
    "analysis.report",
    "harness.spec",
    "harness.build",
    "harness.run",
    "harness.checks",
    "harness.cli",
)
"""Lowest first: a module imports from its own floor and those before it."""
PACKAGES = ("common", "analysis", "harness")


def modules(root: Path) -> dict[str, Path]:
    """Every module of the packages below ``root``, by its dotted name."""
    found = {}
    for package in PACKAGES:
        for path in (root / package).rglob("*.py"):
            parts = path.relative_to(root).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(path: Path, known: dict[str, Path]) -> Iterator[str]:
    """The modules among ``known`` that ``path`` imports, wherever in it and for whatever reason."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names if one.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for one in node.names:
                whole = f"{node.module}.{one.name}"
                if whole in known:
                    yield whole
                elif node.module in known:
                    yield node.module


def floor(module: str) -> int | None:
    """The floor of a module; None of a package that only holds floors."""
    return next((number for number, name in enumerate(FLOORS) if module == name or module.startswith(f"{name}.")), None)


def faults(root: Path) -> list[str]:
    """Sentences about imports that run up or in a circle, and about modules that lie on no floor."""
    known = modules(root)
    graph = {name: set(imports(path, known)) - {name} for name, path in known.items()}
    said = []
    for name, used in sorted(graph.items()):
        here = floor(name)
        if here is None and known[name].name != "__init__.py":
            said.append(f"{name} lies on no floor")
        for other in sorted(used):
            there = floor(other)
            if here is not None and there is not None and there > here:
                said.append(f"{name} imports {other}, which is above it")
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        said.append(f"a circle: {' -> '.join(error.args[1])}")
    return said


def test_imports_run_down() -> None:
    assert faults(REPOSITORY) == []


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"common/low.py": "from harness.spec import high", "harness/spec/high.py": ""}, "common.low imports harness.spec.high"),
        (
            {"harness/cli/a.py": "def f():\n    import harness.cli.b", "harness/cli/b.py": "from harness.cli.a import f"},
            "a circle",
        ),
        ({"harness/loose.py": ""}, "harness.loose lies on no floor"),
    ],
)
def test_what_runs_up_is_found(files: dict[str, str], said: str, tmp_path: Path) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (found,) = faults(tmp_path)
    assert found.startswith(said)
