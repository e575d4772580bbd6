# SPDX-License-Identifier: BSD-3-Clause
"""Files in the repository that are written from a schema: what they have to hold.

They are checked in, so that a reader finds them and gem5's build needs no step of ours; a test fails where one is not what its
schema says, and `run.py generate` writes them again.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from analysis.attribute import schema as records
from analysis.attribute.schema import Column, Table
from common.outcome import bad_input
from common.paths import REPOSITORY
from harness.spec import machine_schema as machine_keys
from harness.spec.machine import ENGINES
from harness.spec.metric_keys import KEYS, Key

COMMAND = "./run.py generate"

_BEGIN = f"<!-- from native/records/schema.toml, written by `{COMMAND}` -->"
_BEGIN_KEYS = f"<!-- from harness/spec/metric_keys.py, written by `{COMMAND}` -->"
_END = "<!-- end of what is written -->"
_CXX = {"u8": "uint8_t", "u16": "uint16_t", "u32": "uint32_t", "u64": "uint64_t"}


def records_header(before: str) -> str:
    """native/records/schema.h: the columns of the engine's file as C++ constants."""
    schema = records.load()
    return "\n".join(
        [
            "// SPDX-License-Identifier: BSD-3-Clause",
            "//",
            f"// Tables and columns of the records file. Written from schema.toml by `{COMMAND}`: change that, not this.",
            "// clang-format off",
            "#ifndef MOSBENCH_NATIVE_RECORDS_SCHEMA_H",
            "#define MOSBENCH_NATIVE_RECORDS_SCHEMA_H",
            "",
            '#include "native/records/column.h"',
            "",
            "namespace mosbench::schema {",
            "",
            f'inline constexpr char kMagic[] = "MOSBENCHREC{schema.format}\\n";',
            "",
            *(line for table in schema.of_engine for line in _cxx_table(table)),
            "} // namespace mosbench::schema",
            "",
            "#endif",
            "",
        ]
    )


def _cxx_table(table: Table) -> Iterator[str]:
    name = table.name.replace("-", "_")
    yield f"// One row per {table.row}."
    yield f"namespace {name} {{"
    for column in table.of_engine:
        yield f'inline constexpr Column<{_CXX[column.type]}> {column.name}{{"{table.name}", "{column.name}"}};'
    yield "inline constexpr ColumnSchema columns[] = {"
    for column in table.of_engine:
        yield f'    {{"{column.name}", "{column.type}", {str(column.optional).lower()}}},'
    yield "};"
    yield f'inline constexpr TableSchema table{{"{table.name}", columns}};'
    for column in table.of_engine:
        if column.values:
            yield f"inline constexpr const char *{column.name}_values[] = {{"
            yield from (f'    "{value}",' for value in column.values)
            yield "};"
    yield f"}} // namespace {name}"
    yield ""


def card_keys_header(before: str) -> str:
    """native/nic/machine_keys.h: the keys of a machine that are the network card's, as C++ constants."""
    keys = [key for key in machine_keys.schema().keys.values() if key.name.startswith("nic_")]
    return "\n".join(
        [
            "// SPDX-License-Identifier: BSD-3-Clause",
            "//",
            f"// Keys of a machine that are the card's. Written from machines/schema.toml by `{COMMAND}`: change that, not this.",
            "// clang-format off",
            "#ifndef MOSBENCH_NATIVE_NIC_MACHINE_KEYS_H",
            "#define MOSBENCH_NATIVE_NIC_MACHINE_KEYS_H",
            "",
            "#include <cstdint>",
            "",
            "namespace mosbench::nic::keys {",
            "",
            "// Both ends included. `standard`: where the file has no such key.",
            "template <typename T> struct Key {",
            "    const char *name;",
            "    T low, high, standard;",
            "};",
            "",
            *map(_cxx_key, keys),
            "",
            "} // namespace mosbench::nic::keys",
            "",
            "#endif",
            "",
        ]
    )


def _cxx_key(key: machine_keys.Key) -> str:
    assert isinstance(key.range, machine_keys.Whole | machine_keys.Real) and isinstance(key.default, int | float)
    kind = "uint32_t" if isinstance(key.range, machine_keys.Whole) else "double"
    name = key.name.removeprefix("nic_")
    low, high, default = map(machine_keys.text, (key.range.low, key.range.high, key.default))
    return f'inline constexpr Key<{kind}> {name}{{"{key.name}", {low}, {high}, {default}}};'


def records_page(before: str) -> str:
    """docs/reference/records.md with the tables of columns between its two marks.

    Raises:
        Failure: bad-input, when the page does not have the marks.
    """
    schema = records.load()
    lines = [line for table in schema.tables.values() for line in _page_table(table)]
    formats = f"Format {schema.format}, of the Parquet tables {schema.tables_format}."
    return _between_marks(before, _BEGIN, "records.md", [formats, "", *lines])


def data_page(before: str) -> str:
    """docs/reference/data.md with the keys of metrics.json between its two marks.

    Raises:
        Failure: bad-input, when the page does not have the marks.
    """
    rows = [f"| `{name}` | {key.unit} | {_key_meaning(key)} |" for name, key in KEYS.items()]
    return _between_marks(before, _BEGIN_KEYS, "data.md", ["| key | unit | meaning |", "|---|---|---|", *rows, ""])


def _key_meaning(key: Key) -> str:
    """What a key means and when it is null or not there."""
    parts = [key.meaning, f"null of {key.null}" if key.null else "", f"only of {key.only}" if key.only else ""]
    return "; ".join(filter(None, parts))


def _between_marks(before: str, mark: str, page: str, lines: Sequence[str]) -> str:
    head, begin, rest = before.partition(mark)
    _, end, tail = rest.partition(_END)
    if not begin or not end:
        raise bad_input(f"docs/reference/{page} has no marks {mark} and {_END}.", "Put them where the tables belong.")
    return "\n".join([head + begin, *lines, end + tail])


def _page_table(table: Table) -> Iterator[str]:
    yield f"### {table.name}"
    yield f"One row per {table.row}. Key: {', '.join(table.key)}."
    yield ""
    yield "| column | type | unit | meaning |"
    yield "|---|---|---|---|"
    for column in table.columns:
        yield f"| {column.name} | {column.parquet_type} | {column.unit} | {_meaning(column)} |"
    yield ""


def _meaning(column: Column) -> str:
    """What a column means and when it is null."""
    parts = [column.meaning]
    if column.part_of:
        parts.append(f"a part of {column.part_of}")
    if column.values:
        parts.append(f"one of {', '.join(column.values)}")
    if column.added:
        parts.append("added when the records are extracted")
    if column.engines is not None and set(column.engines) != set(ENGINES):
        parts.append(f"null but from the {' and '.join(column.engines)} engine")
    if column.setting:
        parts.append(f"null without `{column.setting} = 1`")
    if column.null:
        parts.append(f"null of {column.null}")
    return "; ".join(parts)


FILES: Mapping[Path, Callable[[str], str]] = {
    REPOSITORY / "native" / "records" / "schema.h": records_header,
    REPOSITORY / "native" / "nic" / "machine_keys.h": card_keys_header,
    REPOSITORY / "docs" / "reference" / "records.md": records_page,
    REPOSITORY / "docs" / "reference" / "data.md": data_page,
}
"""File -> what it has to hold, given what it holds now (a page has text around what is written)."""


def wanted(path: Path) -> str:
    """What the file has to hold."""
    return FILES[path](path.read_text(encoding="utf-8") if path.exists() else "")
