# SPDX-License-Identifier: BSD-3-Clause
"""The records of a region of which windows were counted one by one, as those of one region that is made of them."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from analysis.attribute import schema
from analysis.attribute.records import NUMPY, Array, Records
from analysis.attribute.schema import Table
from common.outcome import Failure, Outcome

_CALLERS = "callers"
_CALLER = "caller"


def merged(windows: Sequence[Records], path: Path) -> Records:
    """All ``windows`` together, as if they had been counted in one file ``path``, in this order.

    Rows of one key become one: its counts are summed up, except where the schema says otherwise (`windows`). Of the tables that
    say who called, each window has its 100 lines that cost most.

    Raises:
        Failure: engine-crash, where a sum is more than its column holds.
    """
    first = windows[0]
    callers, numbers = _callers([one.tables[_CALLERS] for one in windows])
    tables: dict[str, dict[str, Array]] = {}
    for table in schema.load().of_engine:
        if table.name == _CALLERS:
            tables[table.name] = callers
            continue
        known = [column.name for column in table.of_engine if column.name in first.tables[table.name]]
        parts = [dict(one.tables[table.name]) for one in windows]
        if _CALLER in known:
            for part, number in zip(parts, numbers, strict=True):
                part[_CALLER] = number[part[_CALLER]]
        tables[table.name] = _rows(table, {name: np.concatenate([part[name] for part in parts]) for name in known}, path)
    rows = {name: len(next(iter(columns.values()))) for name, columns in tables.items()}
    return Records(path, first.engine, first.machine, first.period_cycles, sum(one.roi_cycles for one in windows), tables, rows)


def _rows(table: Table, columns: Mapping[str, Array], path: Path) -> dict[str, Array]:
    """The rows of one table with one for each key, in the order of their keys."""
    order = np.lexsort([columns[name] for name in reversed(table.key)])  # equal keys stay in the order of their windows
    ordered = {name: values[order] for name, values in columns.items()}
    if not len(order):
        return ordered
    new = np.any([values[1:] != values[:-1] for values in (ordered[name] for name in table.key)], axis=0)
    starts = np.concatenate([[0], np.nonzero(new)[0] + 1])
    found: dict[str, Array] = {}
    for name, values in ordered.items():
        column = table.by_name[name]
        if name in table.key or column.windows == "first":
            found[name] = values[starts]
        elif column.windows == "any":
            found[name] = np.bitwise_or.reduceat(values, starts)
        else:
            total = np.add.reduceat(values.astype(np.uint64), starts)
            if total.max() > np.iinfo(values.dtype).max:
                raise Failure(
                    Outcome.ENGINE_CRASH,
                    f"{path}: {table.name}.{name} of all windows together is {total.max()}, more than its column holds.",
                    "Measure fewer or shorter windows.",
                )
            found[name] = total.astype(values.dtype)
    return found


def _callers(tables: Sequence[Mapping[str, Array]]) -> tuple[dict[str, Array], list[Array]]:
    """One table of callers, and of each of ``tables`` its numbers there, by their own; each caller's parent has a smaller one."""
    known: dict[tuple[int, int, int], int] = {}
    numbers = []
    for table in tables:
        own = np.zeros(len(table[_CALLER]) + 1, NUMPY["u32"])  # 0 stays 0
        rows = zip(*(table[name].tolist() for name in (_CALLER, "parent", "address", "kernel")), strict=True)
        for number, parent, address, kernel in rows:
            own[number] = known.setdefault((int(own[parent]), address, kernel), len(known) + 1)
        numbers.append(own)
    columns = list(zip(*known, strict=True)) or [(), (), ()]
    values: dict[str, Sequence[int]] = {_CALLER: list(known.values())}
    values |= dict(zip(("parent", "address", "kernel"), columns, strict=True))
    by_name = schema.load().tables[_CALLERS].by_name
    return {name: np.array(column, NUMPY[by_name[name].type]) for name, column in values.items()}, numbers
