# SPDX-License-Identifier: BSD-3-Clause
"""The user's settings: a TOML file (see `harness.paths.settings_file`), every key optional."""

import os
import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from harness.outcome import bad_input
from harness.paths import REPOSITORY, settings_file


@dataclass(frozen=True)
class Settings:
    """What the user may set once for all commands."""

    jobs: int = 0
    """Points run at a time; 0 is one for each processor of the host."""
    runs: Path = REPOSITORY / "runs"
    """Folder of the run directories."""
    reports: Path = REPOSITORY / "reports"
    boot_silence_seconds: float = 90.0
    """Without console output for this long during boot, a guest counts as hung."""
    run_seconds: float = 3600.0
    """The longest a point may take."""
    gem5: Path | None = None
    """A gem5 binary (optional)."""
    linux_2_6_35: Path | None = None
    """A source tree of Linux 2.6.35 (optional)."""

    @property
    def job_count(self) -> int:
        return self.jobs or len(os.sched_getaffinity(0))


def load(path: Path | None = None) -> Settings:
    """Read the settings file, or the defaults if there is none.

    Raises:
        Failure: bad-input, naming file and key.
    """
    path = path or settings_file()
    if not path.is_file():
        return Settings()
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise bad_input(f"{path} is not a TOML file: {error}.", "Correct the line.") from error
    kinds = {field.name: field.default for field in fields(Settings)}
    values: dict[str, Any] = {}
    for key, value in data.items():
        if key not in kinds:
            raise bad_input(f"{path}: {key} is not a setting.", f"The settings are {', '.join(kinds)}.")
        values[key] = _read(path, key, value, kinds[key])
    return Settings(**values)


def _read(path: Path, key: str, value: object, default: object) -> object:
    """``value`` as the type of the setting, which its default shows (None and Path: a path)."""
    if isinstance(default, int | float):
        kind = type(default)
        if isinstance(value, bool) or not isinstance(value, int | float) or value < 0 or kind(value) != value:
            raise bad_input(f"{path}: {key} = {value} is out of range.", "Allowed is a number of 0 or more.")
        return kind(value)
    if not isinstance(value, str) or not value:
        raise bad_input(f"{path}: {key} = {value!r} is not a path.", "Give a path in quotes.")
    return Path(value).expanduser()
