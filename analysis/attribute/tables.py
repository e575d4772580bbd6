# SPDX-License-Identifier: BSD-3-Clause
"""The Parquet tables of a run directory, ``NAME.parquet``: written and read as native/records/schema.toml says, or not at all."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from analysis.attribute import schema
from common.outcome import bad_input

ARROW = {
    "u8": pa.uint8(),
    "u16": pa.uint16(),
    "u32": pa.uint32(),
    "u64": pa.uint64(),
    "i16": pa.int16(),
    "i64": pa.int64(),
    "bool": pa.bool_(),
    "text": pa.string(),
    "texts": pa.list_(pa.string()),
}
_ADDRESSES = frozenset({"paddr", "vaddr", "object", "offset"})
"""Columns in which a row is mostly a little more than the one before: written as differences they take a quarter."""
_FORMAT = "format"  # key of the metadata
_RUN_AGAIN = "Run the point again: the table is not one that this version wrote."


def path_of(folder: Path, name: str) -> Path:
    """The file of a table in a run directory."""
    return folder / f"{name}.parquet"


def write_table(folder: Path, name: str, table: pa.Table, origin: Mapping[str, str]) -> None:
    """Write a table with ``origin`` (engine, machine, ...) and the format in its metadata, so that none is without.

    Raises:
        ValueError: its columns are not those of the schema.
    """
    if (fault := _fault(name, table.schema)) is not None or (fault := _null_fault(name, table)) is not None:
        raise ValueError(f"{name}: {fault}")
    metadata = {**origin, _FORMAT: str(schema.load().tables_format)}
    encodings = {column: kind for column in table.column_names if (kind := _encoding(table, column))}
    pq.write_table(
        table.replace_schema_metadata(metadata),
        path_of(folder, name),
        compression="zstd",
        compression_level=9,
        column_encoding=encodings,
        use_dictionary=[_leaf(table, column) for column in table.column_names if column not in encodings],
    )


def _encoding(table: pa.Table, column: str) -> str | None:
    """How the values of a column are written; None: as numbers of a dictionary.

    Counts are small numbers in wide types, whose upper bytes are nearly all 0: byte by byte they take less.
    """
    if column in _ADDRESSES:
        return "DELTA_BINARY_PACKED"
    kind = table.schema.field(column).type
    return "BYTE_STREAM_SPLIT" if pa.types.is_integer(kind) and kind.bit_width >= 32 else None


def _leaf(table: pa.Table, column: str) -> str:
    """What Parquet calls a column that has the values."""
    return f"{column}.list.element" if pa.types.is_list(table.schema.field(column).type) else column


def read_table(folder: Path, name: str, columns: Sequence[str] | None = None, *, counted: Sequence[str] = ()) -> pa.Table:
    """A table of a run directory, all columns or those named, and in any case those ``counted``.

    Of the ``counted`` ones the engine has to have numbers: the caller's figure is nothing without them. Others may be null in all
    rows, where the engine does not know them.

    Raises:
        Failure: bad-input, when it cannot be read, is of another format, has other columns than the schema says, or no numbers
            in one that is to be counted.
    """
    path = path_of(folder, name)
    if columns is not None:
        columns = list(dict.fromkeys([*columns, *counted]))
    if odd := {*(columns or ()), *counted} - schema.load().tables[name].by_name.keys():
        raise bad_input(f"The table {name} of a run has no column {min(odd)!r}.", "docs/reference/records.md lists them.")
    try:
        kinds = pq.read_schema(path)
        if (found := _format(kinds)) != str(schema.load().tables_format):
            raise schema.another_format(str(path), found, schema.load().tables_format)
        if (fault := _fault(name, kinds)) is not None:
            raise bad_input(f"{path}: {fault}.", _RUN_AGAIN)
        table = pq.read_table(path, columns=columns)
    except (OSError, KeyError, pa.ArrowException) as error:
        raise bad_input(f"{path} cannot be read ({error}).", "Run the point again.") from None
    if (fault := _null_fault(name, table)) is not None:
        raise bad_input(f"{path}: {fault}.", _RUN_AGAIN)
    for column in counted:
        if table.column(column).null_count:
            raise schema.not_counted(path, name, column)
    return table


def is_of_this_format(folder: Path) -> bool:
    """Whether the tables of a complete run directory are of the format that `read_table` reads."""
    return _format(pq.read_schema(path_of(folder, "lines"))) == str(schema.load().tables_format)


def _format(kinds: pa.Schema) -> str:
    found: bytes | None = (kinds.metadata or {}).get(_FORMAT.encode())
    return "1" if found is None else found.decode()  # the first did not say


def _fault(name: str, kinds: pa.Schema) -> str | None:
    """In which way the columns of a table are not those of the schema, in words; None if they are."""
    wanted = schema.load().tables[name].by_name
    for column in kinds.names:
        if column not in wanted:
            return f"the column {column} is not one that the schema of {name} knows"
    for column in wanted.values():
        if kinds.names.count(column.name) != 1:
            return f"the column {column.name} of {name} is {'missing' if column.name not in kinds.names else 'there twice'}"
        if not kinds.field(column.name).type.equals(ARROW[column.parquet_type]):
            found = kinds.field(column.name).type
            return f"the column {column.name} of {name} is of type {found}, where the schema says {column.parquet_type}"
    return None


def _null_fault(name: str, table: pa.Table) -> str | None:
    """A column with null rows that must not have any."""
    for column in table.column_names:
        known = schema.load().tables[name].by_name[column]
        nulls = table.column(column).null_count
        if nulls and not known.null and not (known.optional and nulls == table.num_rows):
            return f"the column {column} of {name} has {nulls} rows without a value of {table.num_rows}"
    return None
