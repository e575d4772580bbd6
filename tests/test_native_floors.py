# SPDX-License-Identifier: BSD-3-Clause
"""Which of our C and C++ files may include which: no circle among modules, and never up the floors.

A module is what shares a stem in a folder: ``homes.h`` and ``homes.cc``. The floors, from below: what clients in the guest and
behind the card both send (``workloads/postgresql/src``), ``native``, on it the model
(``fast-engine/model``) and what joins gem5 (``gem5-configs/simobjects``), on the model what joins QEMU (``fast-engine/qemu``).
"""

import re
from pathlib import Path, PurePosixPath

import pytest

from common.paths import REPOSITORY

FLOORS = {
    "workloads/postgresql/src": (),
    "native": ("workloads/postgresql/src",),
    "fast-engine/model": ("native",),
    "fast-engine/qemu": ("native", "fast-engine/model"),
    "gem5-configs/simobjects": ("native",),
}
"""Folder: the other folders whose files it may include."""

_SEARCHED = ("", "fast-engine/qemu/files/include", "gem5-configs/simobjects")
"""Where compilers look for a name in quotes, after the folder of the file itself."""

_COPIED = {
    "mosbench/model_abi.h": "fast-engine/model/model_abi.h",
    "mosbench/card_abi.h": "native/load/card_abi.h",
}
"""Headers that another build sees under another name: harness/build/qemu_hooks.py copies them into QEMU's tree."""

_SUFFIXES = (".c", ".cc", ".cpp", ".h", ".hh", ".inc")
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)


def includes(repository: Path) -> dict[str, set[str]]:
    """Our files, and which others of them each includes; paths from the repository."""
    files = {
        path.relative_to(repository).as_posix(): path
        for folder in FLOORS
        for path in sorted((repository / folder).rglob("*"))
        if path.suffix in _SUFFIXES
    }
    found: dict[str, set[str]] = {}
    for name, path in files.items():
        places = [PurePosixPath(name).parent, *map(PurePosixPath, _SEARCHED)]
        found[name] = set()
        for included in _INCLUDE.findall(path.read_text()):
            candidates = [_normal(place / included) for place in places] + [_COPIED.get(included, "")]
            found[name].update([candidate for candidate in candidates if candidate in files][:1])
    return found


def _normal(path: PurePosixPath) -> str:
    parts: list[str] = []
    for part in path.parts:
        if part == ".." and parts:
            parts.pop()
        else:
            parts.append(part)
    return "/".join(parts)


def module(file: str) -> str:
    """``fast-engine/model/homes`` of ``fast-engine/model/homes.cc``."""
    path = PurePosixPath(file)
    return (path.parent / path.name.split(".")[0]).as_posix()


def floor(file: str) -> str:
    return next(folder for folder in FLOORS if file.startswith(folder + "/"))


def upward(found: dict[str, set[str]]) -> list[str]:
    """Includes that a floor may not have, as sentences."""
    return [
        f"{file} includes {other}, which is not below it"
        for file, others in sorted(found.items())
        for other in sorted(others)
        if floor(other) not in (floor(file), *FLOORS[floor(file)])
    ]


def circle(found: dict[str, set[str]]) -> list[str]:
    """Modules of which each includes the next and the last the first; empty if there are none."""
    graph: dict[str, set[str]] = {}
    for file, others in found.items():
        graph.setdefault(module(file), set()).update(module(other) for other in others if module(other) != module(file))
    done: set[str] = set()
    way: list[str] = []

    def visit(name: str) -> list[str]:
        if name in way:
            return way[way.index(name) :]
        if name in done:
            return []
        way.append(name)
        for other in sorted(graph[name]):
            if loop := visit(other):
                return loop
        way.pop()
        done.add(name)
        return []

    return next(filter(None, map(visit, sorted(graph))), [])


def test_no_include_goes_up_the_floors() -> None:
    assert upward(includes(REPOSITORY)) == []


def test_no_modules_include_each_other_in_a_circle() -> None:
    assert circle(includes(REPOSITORY)) == []


@pytest.mark.parametrize(
    ("file", "other"),
    [
        ("fast-engine/model/coherence.h", "fast-engine/model/caches.h"),
        ("fast-engine/model/caches.h", "fast-engine/model/directory.h"),
        ("fast-engine/model/counters.h", "native/records/records.h"),
        ("fast-engine/qemu/files/accel/tcg/mosbench/settings.h", "fast-engine/model/model_abi.h"),
        ("fast-engine/qemu/files/accel/tcg/mosbench/access.c", "fast-engine/qemu/files/accel/tcg/mosbench/settings.h"),
        ("gem5-configs/simobjects/mosbench/line_tap.hh", "native/records/records.h"),
    ],
)
def test_includes_of_each_kind_are_found(file: str, other: str) -> None:
    assert other in includes(REPOSITORY)[file]


def _tree(root: Path, files: dict[str, str]) -> dict[str, set[str]]:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return includes(root)


def test_a_circle_by_way_of_a_source_file_is_named(tmp_path: Path) -> None:
    found = _tree(
        tmp_path,
        {
            "native/a.h": "",
            "native/a.cc": '#include "native/a.h"\n#include "native/b.h"\n',
            "native/b.h": '#  include "c.h"\n',
            "native/c.h": '#include "native/a.h"\n',
        },
    )
    assert circle(found) == ["native/a", "native/b", "native/c"]


def test_a_module_may_include_itself_and_two_one_third(tmp_path: Path) -> None:
    found = _tree(
        tmp_path,
        {
            "native/a.cc": '#include "native/a.h"\n#include "native/b.h"\n#include "native/c.h"\n',
            "native/a.h": "",
            "native/b.h": '#include "native/c.h"\n',
            "native/c.h": "#include <vector>\n",
        },
    )
    assert circle(found) == []


@pytest.mark.parametrize(
    ("file", "included"),
    [
        ("native/records/a.h", "fast-engine/model/b.h"),
        ("fast-engine/model/a.cc", "mosbench/hooks.h"),
        ("gem5-configs/simobjects/mosbench/a.cc", "fast-engine/model/b.h"),
        ("native/a.h", "../gem5-configs/simobjects/mosbench/tap.hh"),
    ],
)
def test_an_include_of_what_is_above_is_named(file: str, included: str, tmp_path: Path) -> None:
    found = _tree(
        tmp_path,
        {
            "fast-engine/model/b.h": "",
            "fast-engine/qemu/files/include/mosbench/hooks.h": "",
            "gem5-configs/simobjects/mosbench/tap.hh": "",
            file: f'#include "{included}"\n',
        },
    )
    assert len(upward(found)) == 1
    assert upward(found)[0].startswith(f"{file} includes ")
