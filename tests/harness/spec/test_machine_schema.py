# SPDX-License-Identifier: BSD-3-Clause
"""The schema of machines: well formed, and what the machines, the harness and both engines hold to.

That the fast engine's model takes the keys which the schema gives it, tests/model/machine_file_test.cc shows: it reads a machine
file that the harness wrote.
"""

import re
import tomllib
from pathlib import Path
from typing import get_type_hints

import pytest
from board import machine_values

from common.outcome import Failure, Outcome
from common.paths import MACHINES, REPOSITORY
from harness.run.engines import base
from harness.spec import machine
from harness.spec.machine_schema import SCHEMA, Choice, Key, Links, Name, Part, Real, Resolved, SocketPairs, Whole, read, schema

UNITS = {"_kib": "KiB", "_mib": "MiB", "_cycles": "cycles", "_ways": "ways", "_bytes": "bytes", "_ghz": "GHz", "_us": "us"}
TYPES = {Whole: int, Real: float, Choice: str, Name: str, SocketPairs: Links}


def test_names_have_their_unit_in_them_and_meanings_are_sentences() -> None:
    with_unit: list[Key | Resolved] = [*schema().keys.values(), *schema().resolved.values()]
    every: list[Key | Resolved | Part] = [*with_unit, *schema().parts.values()]
    for value in with_unit:
        for ending, unit in UNITS.items():
            assert value.unit == unit or not value.name.endswith(ending), value.name
    for one in every:
        assert one.meaning[-1] == ".", one.name
        assert set(one.engines) <= set(base.names()), one.name
        assert "|" not in one.meaning, one.name  # the page is a Markdown table


def test_the_fields_of_a_machine_are_the_keys() -> None:
    wanted = [(key.name, TYPES[type(key.range)]) for key in schema().keys.values()]
    assert list(get_type_hints(machine.Machine).items()) == wanted


@pytest.mark.parametrize("name", machine.names())
def test_a_machine_gives_the_keys_without_a_default_and_no_default_again(name: str) -> None:
    document = tomllib.loads((MACHINES / f"{name}.toml").read_text(encoding="utf-8"))
    given = {k: v for key, value in document.items() for k, v in (value.items() if isinstance(value, dict) else [(key, value)])}
    for key in schema().keys.values():
        assert key.default is not None or key.name in given
        assert key.default is None or given.get(key.name) != key.default, f"{key.name} has the default already"
    assert given["name"] == name


def test_resolved_values_are_those_of_the_schema() -> None:
    assert list(machine.load("opteron-8431").resolved()) == list(schema().resolved)


def test_gem5_takes_the_keys_that_the_schema_gives_it() -> None:
    of_the_card = [name for name in schema().keys if name.startswith(machine_values._OF_THE_CARD)]
    taken = [*machine_values.Machine.__annotations__, *machine_values._PASSED_OVER, *of_the_card]
    assert sorted(taken) == schema().of_engine("gem5")


@pytest.mark.parametrize(
    ("header", "pattern", "allowed"),
    [
        ("native/records/records.h", r"kMaxCores = (\d+);", machine.MAXIMUM_CORES),
        ("native/records/records.h", r"kMaxSockets = (\d+);", 8),
        ("fast-engine/model/model_abi.h", r"#define MODEL_MAX_SETS (\d+)", machine.MAXIMUM_L1_SETS),
    ],
)
def test_a_machine_is_no_larger_than_the_model_has_room_for(header: str, pattern: str, allowed: int) -> None:
    found = re.search(pattern, (REPOSITORY / header).read_text(encoding="utf-8"))
    assert found is not None
    assert int(found[1]) == allowed
    assert schema().keys["sockets"].range == Whole(1, 8)


@pytest.mark.parametrize(
    ("find", "replace", "said"),
    [
        ('kind = "real"', 'kind = "complex"', "of clock_ghz, kind is one of whole, real, word, name, links, not complex"),
        ('unit = "GHz"\n', "", "of clock_ghz, unit is missing"),
        ("low = 0.1\n", "", "of clock_ghz, low is missing"),
        ("high = 10\n", "high = 10\ndefault = 11\n", "of clock_ghz, the default is not a number from 0.1 to 10"),
        ("high = 10\n", "high = 10\nhihg = 10\n", "of clock_ghz, hihg means nothing there"),
        ('meaning = "Clock of all cores."', 'meaning = ""', "of clock_ghz, meaning and engines are not empty"),
        ('from = ["l1d_kib", ', 'from = ["l9_kib", ', "of l1d_sets, it comes from l9_kib, which is not a key"),
        ("[resolved.l1d_sets]", "[resolved.l1d_kib]", "of l1d_kib, it is a key and a resolved value"),
        ("[parts.network-card]\nmeaning", "[parts.network-card]\nmeanings", "of network-card, meaning is missing"),
        ("[keys.clock_ghz]", "[clock_ghz]", "of clock_ghz, it is neither"),
        ("[keys.clock_ghz]", "[keys.clock_ghz", "is not a TOML file"),
    ],
)
def test_a_schema_that_is_not_well_formed_is_refused(find: str, replace: str, said: str, tmp_path: Path) -> None:
    before, mark, rest = SCHEMA.read_text(encoding="utf-8").partition("[keys.clock_ghz]")
    assert find in mark + rest
    path = tmp_path / "schema.toml"
    path.write_text(before + (mark + rest).replace(find, replace, 1), encoding="utf-8")
    with pytest.raises(Failure) as caught:
        read(path)
    assert caught.value.outcome is Outcome.BAD_INPUT
    assert caught.value.what.startswith(f"{path}") and said in caught.value.what
