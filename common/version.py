# SPDX-License-Identifier: BSD-3-Clause
"""Which version of the project this is: its release, and the commit of the checkout."""

import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path

from common.paths import REPOSITORY


@dataclass(frozen=True)
class Revision:
    """The checkout: its commit, and whether files differ from it; both None outside a repository or without git."""

    commit: str | None
    changed: bool | None


def release() -> str:
    """The release, as pyproject.toml states it."""
    data = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    return str(data["project"]["version"])


def revision(without: Path | None = None) -> Revision:
    """The checkout's commit. Files in the folder `without`, a path inside the checkout, may differ from it."""
    status = _git("status", "--porcelain", "--", ".", *([f":(exclude){without.relative_to(REPOSITORY)}"] if without else []))
    return Revision(_git("rev-parse", "HEAD"), None if status is None else bool(status))


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(["git", *arguments], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()
