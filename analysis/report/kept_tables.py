# SPDX-License-Identifier: BSD-3-Clause
"""What a report needs of a run's tables, and the file of a few kilobytes beside the run that keeps it.

Tables of a run have millions of rows, a report has tens of runs, and what it shows of each is small. So it is worked out once,
when the run ends, and kept in ``.catalogue/<name>.json.gz`` of the folder of runs: not in the run directory, whose files do not
change. It is made again where it is missing, of another run of that name (another manifest), or made by other code or another
catalogue of bottlenecks.
"""

import gzip
import hashlib
import os
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt

from analysis.attribute import schema, subjects, tables
from analysis.attribute.tables import read_table
from analysis.report import bottlenecks, callers, hot_lines, line_sharing, shares
from analysis.report.beside import MANIFEST, kept_in
from analysis.report.callers import Taker, takers, waiting_stacks
from analysis.report.hot_lines import HotLine, Hottest
from analysis.report.line_sharing import Sharing, sharing
from analysis.report.shares import Summary, summarise
from common.cache import hash_code, hash_files

LINES = 40
"""Hottest lines that are kept, `PER_LABEL` of each label."""
PER_LABEL = 2
SHARING_LINES = 10
"""Of how many of them it is kept how they are shared."""
FUNCTIONS = 100
"""Functions with the most samples that are kept."""
STACKS = 1000
"""Stacks that wait most that are kept; the cycles of the others are one stack."""

Profile = list[tuple[str, str | None, float]]
"""(function, file, share of the busy samples), the largest first."""


@dataclass(frozen=True)
class KeptTables:
    """Everything that is shown of a run's tables."""

    summary: Summary
    hot_lines: list[HotLine]
    sharing: list[Sharing]
    """Of the first `SHARING_LINES` of them."""
    profile: Profile
    messages: list[tuple[int, int, str, int, int]]
    """(home, requester, kind, messages, bytes), as the table matrix has them."""
    takers: dict[int, list[Taker]]
    """Who takes each of ``hot_lines``, by physical address, `callers.takers`; nothing of lines whose callers are not known."""
    stacks: dict[str, int]
    """`callers.waiting_stacks`, names with ; between them, the first `STACKS` and the sum of the others."""

    def matrix(self, kinds: Iterable[str], what: str, sockets: int) -> npt.NDArray[np.int64]:
        """Messages or bytes of these kinds, shape (sockets, sockets), [requester, home]; ``sockets`` 0: as many as there are."""
        size = sockets or 1 + max((home for home, *_ in self.messages), default=0)
        result, chosen = np.zeros((size, size), np.int64), set(kinds)
        for home, requester, kind, messages, length in self.messages:
            if kind in chosen and home < size and requester < size:
                result[requester, home] += {"messages": messages, "bytes": length}[what]
        return result


class _Kept(msgspec.Struct):
    """The file: what was kept, of which run, and by which code."""

    run: str
    code: str
    tables: KeptTables


def find(folder: Path) -> KeptTables:
    """Those of the run in ``folder``: as they are kept, or else made now, and kept if it is a complete run.

    Raises:
        Failure: bad-input, when its tables cannot be read.
    """
    if (identity := _identity(folder)) is None:
        return make(folder)
    path = kept_in(folder)
    with suppress(OSError, EOFError, msgspec.DecodeError):
        kept = msgspec.json.decode(gzip.decompress(path.read_bytes()), type=_Kept)
        if (kept.run, kept.code) == (identity, _code()):
            return kept.tables
    found = make(folder)
    with suppress(OSError):  # where nothing can be written it is made again each time
        keep(folder, found)
    return found


def keep(folder: Path, found: KeptTables) -> None:
    """Write ``found`` as those of the complete run in ``folder``.

    Raises:
        OSError: where nothing can be written.
    """
    _write(kept_in(folder), msgspec.json.encode(_Kept(_identity(folder) or "", _code(), found)))


def make(folder: Path) -> KeptTables:
    """Read the tables of a run directory.

    Raises:
        Failure: bad-input, when they cannot be read.
    """
    summary = summarise(folder)
    everything = summary.totals["transfers_other_socket"] or 0
    lines = Hottest(folder).lines(LINES, PER_LABEL, everything)
    shared = list(sharing(folder, [line.paddr for line in lines[:SHARING_LINES]]).values())
    return KeptTables(
        summary,
        lines,
        shared,
        profile(folder)[:FUNCTIONS],
        _messages(folder),
        takers(folder, [line.paddr for line in lines]),
        _stacks(folder),
    )


def _stacks(folder: Path) -> dict[str, int]:
    found = waiting_stacks(folder)
    ranked = sorted(found.items(), key=lambda item: (-item[1], item[0]))
    kept = {";".join(name.replace(";", ",") for name in stack): cycles for stack, cycles in ranked[:STACKS]}
    if rest := sum(cycles for _, cycles in ranked[STACKS:]):
        kept["(other stacks)"] = rest
    return kept


def profile(folder: Path) -> Profile:
    """Where the samples of a run are; code of programs without symbols is one function, without a file."""
    names = ("function", "file", "count")
    table = read_table(folder, "samples", names)
    weights: dict[tuple[str, str | None], int] = defaultdict(int)
    for function, file, samples in zip(*(table.column(name).to_pylist() for name in names), strict=True):
        weights[(function, None if function == "user" else file)] += samples
    merged: dict[str, tuple[str | None, int]] = {}
    for (function, file), weight in sorted(weights.items(), key=lambda item: -item[1]):
        known = merged.get(function, (file, 0))
        merged[function] = (known[0], known[1] + weight)
    total = sum(weight for _, weight in merged.values())
    ranked = sorted(merged.items(), key=lambda item: (-item[1][1], item[0]))
    return [(function, file, weight / total) for function, (file, weight) in ranked]


def _messages(folder: Path) -> list[tuple[int, int, str, int, int]]:
    names = ("home", "requester", "kind", "messages", "bytes")
    table = read_table(folder, "matrix", names)
    return list(zip(*(table.column(name).to_pylist() for name in names), strict=True))


def _identity(folder: Path) -> str | None:
    """Hash of the manifest, None of a folder that is no complete run."""
    try:
        return hashlib.sha256((folder / MANIFEST).read_bytes()).hexdigest()
    except OSError:
        return None


@cache
def _code() -> str:
    """Hash of the code and data that they are made by."""
    modules = (Path(__file__), bottlenecks, callers, hot_lines, line_sharing, shares, subjects, tables, schema)
    return hashlib.sha256(
        f"{hash_code(*modules)} {hash_files(bottlenecks.DATA, callers.PRIMITIVES, schema.SCHEMA)}".encode()
    ).hexdigest()


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(exist_ok=True)
    new = path.with_name(f".{path.name}.{os.getpid()}")
    new.write_bytes(gzip.compress(content, mtime=0))
    new.replace(path)
