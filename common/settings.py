# SPDX-License-Identifier: BSD-3-Clause
"""The user's settings: a TOML file (see `common.paths.settings_file`), every key optional.

Beside the fields of `Settings` each kernel source, a folder of kernels/, has a key that names the user's tree or tarball of it.
"""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from common import paths
from common.outcome import bad_input
from common.paths import REPOSITORY, given_path, settings_file


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
    sources: Mapping[str, Path] = field(default_factory=dict)
    """Kernel source -> the user's own tree or tarball of it."""

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
    kinds = {one.name: one.default for one in fields(Settings) if one.name != "sources"}
    source_of = {source_key(folder.parent.name): folder.parent.name for folder in paths.KERNELS.glob("*/kernel.toml")}
    values: dict[str, Any] = {}
    sources: dict[str, Path] = {}
    for key, value in data.items():
        if key in source_of:
            sources[source_of[key]] = _path(path, key, value)
        elif key in kinds:
            values[key] = _read(path, key, value, kinds[key])
        else:
            raise bad_input(f"{path}: {key} is not a setting.", f"The settings are {', '.join([*kinds, *sorted(source_of)])}.")
    return Settings(**values, sources=sources)


def source_key(source: str) -> str:
    """The key of a kernel source: its name with _ for - and for each dot."""
    return source.replace("-", "_").replace(".", "_")


def _read(path: Path, key: str, value: object, default: object) -> object:
    """``value`` as the type of the setting, which its default shows (None and Path: a path)."""
    if isinstance(default, int | float):
        kind = type(default)
        if isinstance(value, bool) or not isinstance(value, int | float) or value < 0 or kind(value) != value:
            raise bad_input(f"{path}: {key} = {value} is out of range.", "Allowed is a number of 0 or more.")
        return kind(value)
    return _path(path, key, value)


def _path(path: Path, key: str, value: object) -> Path:
    """A relative path is from the folder of the settings file."""
    if not isinstance(value, str) or not value:
        raise bad_input(f"{path}: {key} = {value!r} is not a path.", "Give a path in quotes.")
    return path.absolute().parent / given_path(value)
