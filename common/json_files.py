# SPDX-License-Identifier: BSD-3-Clause
"""JSON files with one object each."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Write an object as indented JSON with sorted keys."""
    path.write_text(json.dumps(value, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def read_json(path: Path) -> dict[str, Any]:
    """The object in a file that `write_json` wrote."""
    value: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return value
