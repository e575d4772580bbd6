# SPDX-License-Identifier: BSD-3-Clause
"""Names of what lies beside run directories, apart from the modules that read tables, so that a list of runs is there at once."""

from pathlib import Path

CATALOGUE = ".catalogue"
"""Folder, in a folder of runs, of what is kept of them."""
MANIFEST = "MANIFEST.sha256"
"""File of a complete run that tells it from others."""


def kept_in(folder: Path) -> Path:
    """The file with what is kept of the tables of the run in ``folder``."""
    place = folder.resolve()
    return place.parent / CATALOGUE / f"{place.name}.json.gz"
