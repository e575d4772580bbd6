# SPDX-License-Identifier: BSD-3-Clause
"""Records files: what comes out is what went in, an unknown column is null, and what is wrong with a file is one sentence."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from records_file import read_parts, write_file, write_records

from analysis.attribute import schema
from analysis.attribute.records import MESSAGE_KINDS, read_records
from common.outcome import Failure, Outcome

LINES = schema.load().tables["lines"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "records.bin"
    write_records(
        path,
        {"lines": {"paddr": [64, 128], "cycles": [5, 2**40], "cores": [1, 2**63]}},
        machine="small-2x2",
        roi_cycles=99,
    )
    return path


def test_round_trip(file: Path) -> None:
    records = read_records(file)
    assert (records.engine, records.machine, records.roi_cycles, records.period_cycles) == ("fast", "small-2x2", 99, 9973)
    table = records.table("lines")
    assert table.column_names == [column.name for column in LINES.columns]
    assert table.column("cores").to_pylist() == [1, 2**63]
    assert table.column("cycles").to_pylist() == [5, 2**40]
    assert records.column("lines", "upgrades").tolist() == [0, 0]


def test_a_column_the_engine_does_not_know_is_null(file: Path) -> None:
    records = read_records(file)
    assert records.table("lines").column("reads").to_pylist() == [None, None]
    assert records.table("sites").column("l3_hits").to_pylist() == []
    assert records.table("matrix").num_rows == 0


def test_who_needs_an_unknown_column_is_told(file: Path) -> None:
    with pytest.raises(Failure, match=r"no numbers in the column lines.reads.*set.count_hits=1"):
        read_records(file).column("lines", "reads")
    with pytest.raises(Failure, match=r"no numbers in the column cores.l3_hits"):
        read_records(file).column("cores", "l3_hits")


@pytest.mark.parametrize("length", [0, 5, 40, -1, -200])
def test_truncated(file: Path, length: int) -> None:
    data = file.read_bytes()
    file.write_bytes(data[:length])
    with pytest.raises(Failure) as raised:
        read_records(file)
    assert raised.value.outcome == Outcome.ENGINE_CRASH
    assert str(file) in raised.value.what
    assert raised.value.what.count(". ") == 0


def test_one_flipped_bit(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[-10] ^= 1
    file.write_bytes(data)
    with pytest.raises(Failure, match="CRC-32"):
        read_records(file)


def test_missing(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="cannot be read"):
        read_records(tmp_path / "records.bin")


def test_another_format_is_refused(file: Path) -> None:
    header, body = read_parts(file)
    write_file(file, header, body, form=1)
    with pytest.raises(Failure, match=r"records of format 1, and this version reads format \d+\. Run the point again") as raised:
        read_records(file)
    assert raised.value.outcome == Outcome.BAD_INPUT


def _take(name: str) -> Callable[[dict[str, Any]], None]:
    """Leaves out a column of the (empty) table of samples."""

    def change(table: dict[str, Any]) -> None:
        table["columns"] = [one for one in table["columns"] if one[0] != name]

    return change


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_take("count"), "neither has the column samples.count nor says that it is unknown"),
        (lambda table: table["columns"].append(["count", "u32"]), "has twice the column samples.count"),
        (lambda table: table["columns"].append(["reason", "u32"]), "has a column samples.reason, which the schema does not know"),
        (lambda table: table["unknown"].append("reason"), "has a column samples.reason, which the schema does not know"),
        (
            lambda table: (_take("count")(table), table["unknown"].append("count")),
            "not know samples.count, which every engine",
        ),
        (
            lambda table: (_take("count")(table), table["columns"].append(["count", "u64"])),
            "count as u64, where .* says u32",
        ),
        (lambda table: table.update(name="walks"), "has a table 'walks', which the schema does not know"),
        (lambda table: table.update(name="cores"), "has more than one table 'cores'|has no table 'samples'"),
    ],
)
def test_tables_and_columns_are_those_of_the_schema(file: Path, change: Callable[[dict[str, Any]], None], said: str) -> None:
    header, body = read_parts(file)
    (samples,) = (table for table in header["tables"] if table["name"] == "samples")
    change(samples)
    write_file(file, header, body)
    with pytest.raises(Failure, match=said) as raised:
        read_records(file)
    assert str(file) in raised.value.what
    assert "build it again" in raised.value.cure


def test_a_number_without_a_name(file: Path) -> None:
    write_records(file, {"matrix": {"home": [0], "kind": [len(MESSAGE_KINDS)]}})
    with pytest.raises(Failure, match=r"has 10 in matrix.kind, for which the schema has no name"):
        read_records(file)


PARTS = ("instruction", "pause", "l1", "l2", "l3", "same_socket", "other_socket", "dram_local", "dram_remote", "upgrade")


def test_where_a_cores_cycles_went_is_all_of_them(file: Path) -> None:
    parts = {f"{part}_cycles": [10, 3] for part in (*PARTS, "card", "idle")}
    write_records(file, {"cores": {"core": [0, 1], "cycles": [120, 36], **parts}})
    assert set(parts) == {column.name for column in schema.load().tables["cores"].sums["cycles"]}
    assert list(read_records(file).tables["cores"]["card_cycles"]) == [10, 3]
    write_records(file, {"cores": {"core": [0, 1], "cycles": [120, 37], **parts}})
    with pytest.raises(
        Failure, match=r"row 1 in cores whose parts do not sum up to cycles = 37 \(instruction_cycles 3, .*idle_cycles 3\)"
    ):
        read_records(file)
    negative = parts | {"l1_cycles": [10, 2**64 - 5], "idle_cycles": [10, 11]}
    write_records(file, {"cores": {"core": [0, 1], "cycles": [120, 36], **negative}})
    with pytest.raises(Failure, match="row 1 in cores"):
        read_records(file)


def test_parts_that_an_engine_does_not_all_know_need_not_sum_up(file: Path) -> None:
    write_records(file, {"cores": {"core": [0], "cycles": [100], "dram_local_cycles": [10], "idle_cycles": [20]}})
    assert "l3_cycles" not in read_records(file).tables["cores"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"u64"', '"u128"', "type 'u128'"),
        ('name = "vaddr"', 'name = "paddr"', "two columns of one name"),
        ('key = ["paddr"]', 'key = ["place"]', "or no key"),
        ('meaning = "waited', 'cause = "waited', "no schema of the records"),
        ('meaning = "executed"', 'meaning = "executed", null = "some"', "cores.instructions is the engine's and has null rows"),
        ('name = "samples"', 'name = "cores"', "two tables of one name"),
        ('part_of = "cycles"', 'part_of = "time"', "is a part of 'time', which is no column"),
        ("format = 5", "", "no schema of the records"),
    ],
)
def test_a_wrong_schema_is_one_sentence(tmp_path: Path, old: str, new: str, said: str) -> None:
    path = tmp_path / "schema.toml"
    text = schema.SCHEMA.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(Failure, match=said) as raised:
        schema.load(path)
    assert str(path) in raised.value.what
