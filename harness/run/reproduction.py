# SPDX-License-Identifier: BSD-3-Clause
"""Two runs of one point: which of their files have to be the same, and are.

The same point on the same builds gives the same bytes. What is about the host, the time or the command is in files of its own,
`OWN`, and in some lines of gem5's; all else of a run directory has to be the same. docs/reference/run-directory.md says so.
"""

import hashlib
import re
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from analysis.attribute import schema
from analysis.attribute.tables import path_of
from analysis.report.beside import MANIFEST
from common.json_files import read_json

OWN = ("provenance.json", "outcome.json", "engine/engine.json", "engine/*.log", MANIFEST)
"""Files of a run directory that say when, where and how it was made: they differ from run to run."""

OWN_LINES = {
    "engine/stats.txt": re.compile(rb"^host[A-Z]\w* .*\n", re.MULTILINE),
    "engine/config.ini": re.compile(rb"^readfile=.*\n", re.MULTILINE),
}
"""Lines of files of gem5 that do so: its own time and memory, and where the job is, whose content is compared too."""


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
    return [Compared(name, _digest(first, name) == _digest(second, name)) for name in wanted]


def _digest(folder: Path, name: str) -> str:
    path = folder / name
    if not path.is_file():
        return f"{path} is missing"  # equal to nothing
    if name in OWN_LINES:
        return hashlib.sha256(OWN_LINES[name].sub(b"", path.read_bytes())).hexdigest()
    with open(path, "rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def builds(first: Path, second: Path) -> list[Compared]:
    """Kernel, image and engine of two runs."""
    one, other = (read_json(folder / "provenance.json").get("digests") or {} for folder in (first, second))
    return [Compared(what, one.get(what) == other.get(what) is not None) for what in sorted(one | other)]
