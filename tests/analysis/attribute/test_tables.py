# SPDX-License-Identifier: BSD-3-Clause
"""Parquet tables of a run directory: other columns than the schema's are refused, written or read."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from records_file import write_parquet

from analysis.attribute import schema, tables
from common.outcome import Failure

SAMPLES: dict[str, list[Any]] = {
    "core": [0, 1],
    "pc": [7, 8],
    "kernel": [0, 1],
    "count": [3, 4],
    "function": ["f", "g"],
    "frames": [["f"], []],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_parquet(tmp_path, "samples", SAMPLES)
    return tmp_path


def test_what_is_written_is_read(folder: Path) -> None:
    table = tables.read_table(folder, "samples")
    assert table.column_names == [column.name for column in schema.load().tables["samples"].columns]
    assert table.select(list(SAMPLES)).to_pydict() == SAMPLES
    assert tables.read_table(folder, "samples", ["count"]).column_names == ["count"]


def test_addresses_are_written_as_differences(tmp_path: Path) -> None:
    """A line for each 64 bytes takes next to nothing, where its address written out takes four bytes even when compressed."""
    write_parquet(tmp_path, "lines", {"paddr": range(1 << 20, (1 << 20) + (64 << 16), 64)})
    column = pq.ParquetFile(tmp_path / "lines.parquet").metadata.row_group(0).column(0)
    assert column.path_in_schema == "paddr"
    assert "DELTA_BINARY_PACKED" in column.encodings
    assert column.total_compressed_size < 65536 / 8


def test_counts_are_written_byte_by_byte(tmp_path: Path) -> None:
    """Their upper bytes are nearly all 0; what reads the tables in docs/reference/data.md reads them so too."""
    cycles = [number * 7919 % 30011 for number in range(4096)]
    write_parquet(tmp_path, "lines", {"paddr": range(0, 64 * len(cycles), 64), "cycles": cycles})
    group = pq.ParquetFile(tmp_path / "lines.parquet").metadata.row_group(0)
    (column,) = (one for one in map(group.column, range(group.num_columns)) if one.path_in_schema == "cycles")
    assert "BYTE_STREAM_SPLIT" in column.encodings
    asked = duckdb.sql(f"select sum(cycles)::bigint from '{tmp_path}/lines.parquet'")
    assert asked is not None and asked.fetchall() == [(sum(cycles),)]


@pytest.mark.parametrize("name", schema.load().tables)
def test_every_table_can_be_written(tmp_path: Path, name: str) -> None:
    column = schema.load().tables[name].columns[0].name
    write_parquet(tmp_path, name, {column: [1, 2]})
    assert tables.read_table(tmp_path, name).num_rows == 2


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda table: table.drop_columns(["count"]), "the column count of samples is missing"),
        (lambda table: table.append_column("reason", table["count"]), "the column reason is not one that the schema of samples"),
        (lambda table: table.append_column("count", table["count"]), "the column count of samples is there twice"),
        (lambda table: table.set_column(3, "count", table["count"].cast(pa.int64())), "of type int64, where the schema says u32"),
        (
            lambda table: table.set_column(3, "count", pa.array([1, None], pa.uint32())),
            "the column count of samples has 1 rows without a value of 2",
        ),
        (lambda table: table.replace_schema_metadata({}), "records of format 1, and this version reads format"),
        (lambda table: table.replace_schema_metadata({"format": "99"}), r"records of format 99.*Run the point again"),
    ],
)
def test_another_table_is_one_sentence(folder: Path, change: Callable[[pa.Table], pa.Table], said: str) -> None:
    path = folder / "samples.parquet"
    pq.write_table(change(pq.read_table(path)), path)
    with pytest.raises(Failure, match=said) as raised:
        tables.read_table(folder, "samples")
    assert str(path) in raised.value.what


def test_another_table_is_not_written(folder: Path) -> None:
    table = tables.read_table(folder, "samples")
    with pytest.raises(ValueError, match="count of samples is missing"):
        tables.write_table(folder, "samples", table.drop_columns(["count"]), {})
    with pytest.raises(ValueError, match="count of samples has 2 rows without a value"):
        tables.write_table(folder, "samples", table.set_column(3, "count", pa.nulls(2, pa.uint32())), {})


def test_a_column_that_no_engine_counted(tmp_path: Path) -> None:
    write_parquet(tmp_path, "sites", {"paddr": [64, 128]}, unknown=["l3_hits"])
    assert tables.read_table(tmp_path, "sites", ["l3_hits"]).column(0).to_pylist() == [None, None]
    with pytest.raises(Failure, match=r"sites.parquet has no numbers in the column sites.l3_hits"):
        tables.read_table(tmp_path, "sites", ["paddr"], counted=["l3_hits"])
    with pytest.raises(Failure, match="has no column 'l4_hits'"):
        tables.read_table(tmp_path, "sites", ["l4_hits"])


def test_a_table_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(Failure, match=r"sites.parquet cannot be read"):
        tables.read_table(tmp_path, "sites")
