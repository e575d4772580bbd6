# SPDX-License-Identifier: BSD-3-Clause
"""Records files: what comes out is what went in, an unknown column is null, and a damaged file is one sentence."""

from pathlib import Path

import pytest

from analysis.attribute.records import COLUMNS, read_records, write_records
from common.outcome import Failure, Outcome


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "records.bin"
    write_records(
        path,
        {
            "lines": {"paddr": [64, 128], "cycles": [5, 2**40], "cores": [1, 2**63]},
            "samples": {"core": [], "pc": [], "count": []},
        },
        machine="small-2x2",
        roi_cycles=99,
    )
    return path


def test_round_trip(file: Path) -> None:
    records = read_records(file)
    assert (records.engine, records.machine, records.roi_cycles, records.period_cycles) == ("fast", "small-2x2", 99, 9973)
    table = records.table("lines")
    assert table.column_names == list(COLUMNS["lines"])
    assert table.column("cores").to_pylist() == [1, 2**63]
    assert table.column("cycles").to_pylist() == [5, 2**40]


def test_a_column_the_engine_does_not_know_is_null(file: Path) -> None:
    table = read_records(file).table("lines")
    assert table.column("reads").to_pylist() == [None, None]
    assert read_records(file).table("matrix").num_rows == 0


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
