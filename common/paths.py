# SPDX-License-Identifier: BSD-3-Clause
"""Where things are: the checkout, the user's cache folder, the user's settings file."""

import os
from pathlib import Path

from common.outcome import bad_input

REPOSITORY = Path(__file__).resolve().parent.parent
KERNELS = REPOSITORY / "kernels"
"""One folder for each kernel source."""
MACHINES = REPOSITORY / "machines"
WORKLOADS = REPOSITORY / "workloads"
"""One folder for each application."""


def cache_root() -> Path:
    """Folder of everything that is built once: ``$MOSBENCH_CACHE``, else ``mosbench-gem5`` in the XDG cache folder."""
    explicit = _named_in("MOSBENCH_CACHE")
    return explicit or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mosbench-gem5"


def settings_file() -> Path:
    """The user's settings: ``$MOSBENCH_SETTINGS``, else ``mosbench-gem5.toml`` in the XDG configuration folder."""
    explicit = _named_in("MOSBENCH_SETTINGS")
    return explicit or Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "mosbench-gem5.toml"


def given_path(text: str | Path) -> Path:
    """A path that the user gives: ``~`` and ``~NAME`` are home folders.

    Raises:
        Failure: bad-input, when there is no user of that name.
    """
    try:
        return Path(text).expanduser()
    except RuntimeError:
        user = Path(text).parts[0].removeprefix("~")
        raise bad_input(
            f"{text}: there is no user {user} whose home folder it could be in." if user else f"{text}: you have no home folder.",
            "Give the whole path.",
        ) from None


def _named_in(variable: str) -> Path | None:
    """The path in an environment variable. A relative one is made absolute there too: what we start works elsewhere."""
    text = os.environ.get(variable)
    if not text:
        return None
    path = Path(text).absolute()
    os.environ[variable] = str(path)
    return path
