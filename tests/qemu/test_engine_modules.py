# SPDX-License-Identifier: BSD-3-Clause
"""The engine's files in QEMU: who uses whom, without compiling them."""

import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from common.paths import REPOSITORY

FILES = REPOSITORY / "fast-engine" / "qemu" / "files"
ENGINE = FILES / "accel" / "tcg" / "mosbench"
SOURCES = sorted(ENGINE.rglob("*.[ch]"))

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_INCLUDE = re.compile(r'^#include ["<](.+?)[">]', re.MULTILINE)
_NAME = re.compile(r"\bmosbench_\w+")
# At the beginning of a line: the definition of a function or of variables that others may use.
_DEFINITION = re.compile(r"^(?!static|extern|typedef)\w[^#\n=({\[]*?mosbench_[^\n]*", re.MULTILINE)
_DEFINED = re.compile(r"(mosbench_\w+)(?=\s*[(;,=\[])")


def module(path: Path) -> str:
    """A header and the file of that name are one module."""
    return str(path.relative_to(ENGINE).with_suffix(""))


def text(path: Path) -> str:
    return _COMMENT.sub("", path.read_text())


def includes(path: Path) -> list[Path]:
    """The engine's own headers that a file includes."""
    return [found for name in _INCLUDE.findall(text(path)) if (found := (path.parent / name).resolve()).is_file()]


def defined(path: Path) -> set[str]:
    return {name for line in _DEFINITION.findall(text(path)) if "HELPER(" not in line for name in _DEFINED.findall(line)}


def uses() -> dict[str, set[str]]:
    """By module, those that it includes or of which it uses a function or a variable."""
    owner = {name: module(path) for path in SOURCES if path.suffix == ".c" for name in defined(path)}
    graph: dict[str, set[str]] = {}
    for path in SOURCES:
        used = {module(header) for header in includes(path)}
        used |= {owner[name] for name in _NAME.findall(text(path)) if name in owner}
        graph.setdefault(module(path), set()).update(used - {module(path)})
    return graph


def test_the_graph_knows_what_is_there() -> None:
    graph = uses()
    assert graph["region"] >= {"guest_clock", "sleep", "snapshot", "settings", "core", "arena", "usage", "hooks"}
    assert graph["loop"] >= {"run_queue", "slice", "stacks", "region", "settings"}
    assert "region" not in graph["sleep"]


def test_no_two_modules_use_each_other() -> None:
    try:
        TopologicalSorter(uses()).prepare()
    except CycleError as error:
        pytest.fail(f"a circle: {' -> '.join(reversed(error.args[1]))}")


@pytest.mark.parametrize("path", [path for path in SOURCES if path.parent.name == "logic"], ids=lambda path: path.name)
def test_the_logic_knows_nothing_of_qemu(path: Path) -> None:
    standard = {"stdbool.h", "stdint.h", "string.h"}
    own = {header.name for header in includes(path) if header.parent == path.parent}
    assert set(_INCLUDE.findall(text(path))) <= standard | own


@pytest.mark.parametrize("path", [path for path in SOURCES if path.suffix == ".c"], ids=lambda path: module(path))
def test_what_a_file_takes_from_another_is_in_a_header(path: Path) -> None:
    assert not re.search(r"^\s*extern\b", text(path), re.MULTILINE)


def test_every_file_is_built() -> None:
    named = re.findall(r"'(.+?\.c)'", (ENGINE / "meson.build").read_text())
    assert named == sorted(str(path.relative_to(ENGINE)) for path in SOURCES if path.suffix == ".c")
