# SPDX-License-Identifier: BSD-3-Clause
"""Two runs of one point: which of their files have to be the same, and are.

The same point on the same builds gives the same bytes. What is about the host, the time or the command is in files of its own,
`OWN`; all others of a run directory have to be the same. docs/reference/run-directory.md says so.
"""

import hashlib
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from analysis.attribute import schema
from analysis.attribute.tables import path_of
from analysis.report.beside import MANIFEST
from common.json_files import read_json

OWN = ("provenance.json", "outcome.json", "engine/engine.json", "engine/*.log", MANIFEST)
"""Files of a run directory that say when, where and how it was made: they differ from run to run."""


@dataclass(frozen=True)
class Compared:
    """Name of a file, or of a build, and whether both runs have the same."""

    name: str
    same: bool


def files(first: Path, second: Path) -> list[Compared]:
    """All files of two run directories that have to be the same, sorted by name. One that is missing is not the same, also where
    neither has it and every run has to."""
    names = {"console.log", "engine/records.sha256", *(path_of(first, table).name for table in schema.load().tables)}
    names |= {str(path.relative_to(folder)) for folder in (first, second) for path in folder.rglob("*") if path.is_file()}
    wanted = sorted(name for name in names if not any(fnmatch(name, own) for own in OWN))
    return [Compared(name, _digest(first / name) == _digest(second / name)) for name in wanted]


def _digest(path: Path) -> str:
    if not path.is_file():
        return f"{path} is missing"  # equal to nothing
    with open(path, "rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def builds(first: Path, second: Path) -> list[Compared]:
    """Kernel, image and engine of two runs."""
    one, other = (read_json(folder / "provenance.json").get("digests") or {} for folder in (first, second))
    return [Compared(what, one.get(what) == other.get(what) is not None) for what in sorted(one | other)]
