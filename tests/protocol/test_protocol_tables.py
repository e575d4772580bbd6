# SPDX-License-Identifier: BSD-3-Clause
"""The protocol's source and its model: what can happen in one can happen in the other."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from common import settings
from common.paths import REPOSITORY

_SEARCHES = (
    ("1", "2", "devices", "fetches", "lookups"),
    ("2", "1", "devices"),
    ("2", "1", "fetches"),
)
"""Machines and wishes that together reach every pair that the model has."""

_BEYOND_THE_MODEL = {
    "Directory * Mem_Ack": "memory's acknowledgement of a write changes nothing and may come at any time; the model has none",
    "L3Cache * Spill_Wait": "the model has one line, so its L3 always has room",
    "L3Cache * Spill_Gone": "the model has one line, so its L3 always has room",
}


def _tables() -> ModuleType:
    spec = importlib.util.spec_from_file_location("protocol_tables", REPOSITORY / "gem5-configs" / "protocol" / "tables.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


TABLES = _tables()


def _gem5_source() -> Path | None:
    """From the environment, or around the binary of the settings (SOURCE/build/NAME/gem5.opt)."""
    named = os.environ.get("GEM5_SOURCE")
    if named:
        return Path(named)
    binary = settings.load().gem5
    return None if binary is None else binary.resolve().parent.parent.parent


@pytest.fixture(scope="module")
def source() -> Path:
    found = _gem5_source()
    if found is None or not TABLES.has_slicc(found):
        pytest.skip("no source of gem5 with SLICC (GEM5_SOURCE, or beside the gem5 binary in the settings)")
    return found


@pytest.fixture(scope="module")
def search(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("search") / "protocol-search"
    sources = [str(REPOSITORY / "tests" / "protocol" / name) for name in ("search.cc", "search_main.cc")]
    compiler = os.environ.get("CXX", "g++")
    subprocess.run([compiler, "-std=c++20", "-O2", f"-I{REPOSITORY}", *sources, "-o", str(program)], check=True)
    return program


def _run(program: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(program), *arguments], capture_output=True, text=True, check=False)


def _beyond(pair: str) -> bool:
    machine, _, event = pair.split()
    return f"{machine} * {event}" in _BEYOND_THE_MODEL


def test_the_source_has_the_pairs_that_the_model_reaches_and_no_others(source: Path, search: Path) -> None:
    written = {
        f"{machine.name} {state} {event}"
        for machine in TABLES.machines(source)
        if machine.name != "DMA"  # three states; the model's device has no table
        for state, event in machine.pairs()
    }
    reached: set[str] = set()
    for arguments in _SEARCHES:
        answer = _run(search, *arguments, "pairs")
        assert answer.returncode == 0, answer.stdout
        reached |= {line.removeprefix("pair ") for line in answer.stdout.splitlines() if line.startswith("pair ")}
    assert reached - written == set(), "the model reaches what the source takes for an error"
    assert {pair for pair in written - reached if not _beyond(pair)} == set(), "the source has what the model never reaches"
    used = {f"{pair.split()[0]} * {pair.split()[2]}" for pair in written - reached}
    assert used == set(_BEYOND_THE_MODEL), "an excuse that nothing needs"


def test_the_page_of_tables_is_of_this_source(source: Path) -> None:
    page = REPOSITORY / "docs" / "reference" / "protocol-tables.md"
    assert page.read_text(encoding="utf-8") == TABLES.page(TABLES.machines(source)), f"draw it again: {TABLES.__doc__}"


def test_a_folder_that_is_no_source_of_gem5_is_told(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="is no source of gem5"):
        TABLES.machines(tmp_path)


def test_the_search_shows_a_fault_and_the_way_to_it(search: Path) -> None:
    answer = _run(search, "1", "2", "without=upgrade_spares_asker")
    assert answer.returncode == 1
    assert "fault: the right to write for a core without a copy\n  " in answer.stdout


@pytest.mark.parametrize("arguments", [(), ("7", "7"), ("1", "1", "without=nothing"), ("1", "1", "more")])
def test_bad_arguments_are_told(search: Path, arguments: tuple[str, ...]) -> None:
    answer = _run(search, *arguments)
    assert answer.returncode == 2
    assert "protocol-search NODES CORES" in answer.stderr


def test_a_search_that_is_cut_short_says_so(search: Path) -> None:
    answer = _run(search, "2", "1", "most=500")
    assert answer.returncode == 3
    assert "not complete" in answer.stdout
