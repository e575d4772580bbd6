# SPDX-License-Identifier: BSD-3-Clause
"""The protocol's source itself, as SLICC makes it C++, under random load on a stand-in for gem5."""

import importlib.util
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

from common.paths import REPOSITORY

_PROTOCOL = REPOSITORY / "gem5-configs" / "protocol"
_STAND_IN = REPOSITORY / "tests" / "protocol" / "stand_in"
_RUNS = (  # sockets, cores, seed, accesses, lines, devices, entries of a home's filter
    ("1", "1", "1", "20000", "24", "0", "32"),
    ("2", "2", "1", "50000", "24", "1", "32"),
    ("2", "6", "1", "50000", "24", "2", "32"),
    ("8", "6", "1", "50000", "24", "2", "16"),
    ("2", "2", "1", "50000", "12", "1", "4"),
    ("8", "2", "1", "50000", "12", "4", "16"),
    ("8", "6", "3", "100000", "12", "4", "64"),
    ("8", "6", "2", "100000", "12", "4", "64"),
)


def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"protocol_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


TABLES, GENERATE = _module(_PROTOCOL / "tables.py"), _module(_STAND_IN / "generate.py")


@pytest.fixture(scope="module")
def gem5() -> Path:
    named = os.environ.get("GEM5_SOURCE")
    if not named or not TABLES.has_slicc(Path(named)):
        pytest.skip("no source of gem5 with SLICC (GEM5_SOURCE)")
    return Path(named)


def _build(gem5: Path, source: Path, folder: Path) -> Path:
    GENERATE.write(*TABLES.parse(gem5, source), folder)
    program = folder / "protocol-tester"
    command = [os.environ.get("CXX", "g++"), "-std=c++20", "-w", "-O1", f"-I{REPOSITORY}", f"-I{folder}"]
    subprocess.run([*command, str(_STAND_IN / "tester.cc"), "-o", str(program)], check=True)
    return program


def _run(program: Path, arguments: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(program), *arguments], capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def tester(gem5: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _build(gem5, TABLES.SOURCE, tmp_path_factory.mktemp("source") / "code")


def test_every_transition_is_met_and_no_value_is_wrong(tester: Path) -> None:
    times: Counter[str] = Counter()
    for arguments in _RUNS:
        answer = _run(tester, arguments)
        assert answer.returncode == 0, f"{' '.join(arguments)}\n{answer.stdout[-500:]}{answer.stderr[-500:]}"
        assert "\naccesses " in answer.stdout
        for line in answer.stdout.splitlines():
            if line.startswith("pair "):
                pair, _, count = line.removeprefix("pair ").rpartition(" ")
                times[pair] += int(count)
    never = {pair for pair, count in times.items() if count == 0}
    # A line without a way in the L3 is rare, and these are its rare places.
    assert {pair for pair in never if " Spill_" not in pair} == set()
    assert len(times) > 200


def test_a_broken_rule_is_found(gem5: Path, tmp_path: Path) -> None:
    broken = tmp_path / "protocol"
    shutil.copytree(_PROTOCOL, broken)
    home = broken / "MOESI_htassist-home.sm"
    text = home.read_text(encoding="utf-8")
    assert text.count("return cache_entry.Owner == node;") == 1
    home.write_text(text.replace("return cache_entry.Owner == node;", "return true;"), encoding="utf-8")
    program = _build(gem5, broken / TABLES.SOURCE.name, tmp_path / "code")
    assert _run(program, _RUNS[1]).returncode != 0


def test_bad_arguments_are_told(tester: Path) -> None:
    assert _run(tester, ("2", "2")).returncode == 2
    answer = _run(tester, ("8", "7", "1", "10", "10", "1", "16"))
    assert (answer.returncode, "at most 56 cores and devices" in answer.stderr) == (2, True)
