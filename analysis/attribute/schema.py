# SPDX-License-Identifier: BSD-3-Clause
"""Which tables and columns the records have: native/records/schema.toml, whose head says what its keys mean."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from common.outcome import Failure, bad_input
from common.paths import REPOSITORY

SCHEMA = REPOSITORY / "native" / "records" / "schema.toml"

_UNSIGNED = ("u8", "u16", "u32", "u64")
_WINDOWS = ("", "any", "first")
_TYPES = (*_UNSIGNED, "i16", "i64", "bool", "text", "texts")


@dataclass(frozen=True)
class Column:
    """One column; the attributes are the keys of schema.toml."""

    name: str
    type: str
    meaning: str
    unit: str = ""
    engines: tuple[str, ...] | None = None
    setting: str = ""
    part_of: str = ""
    added: bool = False
    null: str = ""
    windows: str = ""
    values: tuple[str, ...] = ()

    @property
    def optional(self) -> bool:
        """Whether there are engines, or settings, that leave the whole column unknown."""
        return self.engines is not None or bool(self.setting)

    @property
    def parquet_type(self) -> str:
        """Its type in the Parquet table."""
        return "text" if self.values else self.type


@dataclass(frozen=True)
class Table:
    """One table, its columns in the order in which files have them."""

    name: str
    row: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]

    @cached_property
    def by_name(self) -> Mapping[str, Column]:
        return {column.name: column for column in self.columns}

    @cached_property
    def sums(self) -> Mapping[str, tuple[Column, ...]]:
        """Column -> the columns that it is the sum of, for those that are sums."""
        wholes = dict.fromkeys(column.part_of for column in self.columns if column.part_of)
        return {whole: tuple(column for column in self.columns if column.part_of == whole) for whole in wholes}

    @property
    def of_engine(self) -> tuple[Column, ...]:
        """The columns that the engine's file holds; none of a table that is made when the records are extracted."""
        return tuple(column for column in self.columns if not column.added)


@dataclass(frozen=True)
class Schema:
    """schema.toml."""

    format: int
    """Of the engine's file."""
    tables_format: int
    tables: Mapping[str, Table]

    @property
    def of_engine(self) -> tuple[Table, ...]:
        """The tables of the engine's file."""
        return tuple(table for table in self.tables.values() if table.of_engine)


@cache
def load(path: Path = SCHEMA) -> Schema:
    """Read schema.toml.

    Raises:
        Failure: bad-input, naming the file and what is wrong with it.
    """
    try:
        data: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
        tables = [_table(entry) for entry in data["table"]]
        schema = Schema(int(data["format"]), int(data["tables_format"]), {table.name: table for table in tables})
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise bad_input(f"{path} is no schema of the records ({error!r}).", "Its head says what it has to hold.") from None
    if len(schema.tables) < len(tables):
        raise bad_input(f"{path} has two tables of one name.", "Rename one of them.")
    for table in tables:
        for column in table.columns:
            if (fault := _fault(table, column)) is not None:
                raise bad_input(f"{path}: the column {table.name}.{column.name} {fault}.", "Its head says what a column is.")
        if len(table.by_name) < len(table.columns) or not set(table.key) <= table.by_name.keys() or not table.key:
            raise bad_input(f"{path}: the table {table.name} has two columns of one name, or no key.", "See its head.")
    return schema


def _table(entry: dict[str, Any]) -> Table:
    columns = []
    for one in entry["columns"]:
        engines = None if "engines" not in one else tuple(one["engines"])
        columns.append(Column(**{**one, "engines": engines, "values": tuple(one.get("values", ()))}))
    return Table(entry["name"], entry["row"], tuple(entry["key"]), tuple(columns))


def _fault(table: Table, column: Column) -> str | None:
    """What is wrong with a column, in a few words."""
    if column.type not in _TYPES:
        return f"has the type {column.type!r}, which is none of {', '.join(_TYPES)}"
    if not column.added and column.type not in _UNSIGNED:
        return f"is the engine's and of the type {column.type}"
    if column.added and column.optional:
        return "is added and has engines or a setting"
    if column.null and not column.added:
        return "is the engine's and has null rows"
    if column.windows not in _WINDOWS or (column.windows and column.added):
        return f"has windows = {column.windows!r}, which is none of {', '.join(_WINDOWS[1:])}, or is added"
    if column.values and column.type != "u8":
        return "has values and is not u8"
    if column.part_of and (column.added or column.part_of not in table.by_name):
        return f"is a part of {column.part_of!r}, which is no column, or is added"
    if column.name in table.key and column.optional:
        return "is in the key and may be unknown"
    return None


def another_format(what: str, found: str, wanted: int) -> Failure:
    """The failure for records of a format that this version does not read: ``found`` is theirs, ``wanted`` ours."""
    return bad_input(
        f"{what} has records of format {found}, and this version reads format {wanted}.",
        "Run the point again (`run.py run` keeps the old run aside), or read it with the version that made it.",
    )


def not_counted(path: Path, table: str, column: str) -> Failure:
    """The failure where a figure needs a column that the engine did not count; ``path`` is the file that has it null."""
    setting = load().tables[table].by_name[column].setting
    return bad_input(
        f"{path} has no numbers in the column {table}.{column}: the engine did not count it.",
        f"Run the point with `set.{setting}=1`." if setting else "Run the point on an engine that does.",
    )
