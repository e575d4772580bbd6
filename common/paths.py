# SPDX-License-Identifier: BSD-3-Clause
"""Where things are: the checkout, the user's cache folder, the user's settings file."""

import os
from pathlib import Path

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


def _named_in(variable: str) -> Path | None:
    """The path in an environment variable. A relative one is made absolute there too: what we start works elsewhere."""
    text = os.environ.get(variable)
    if not text:
        return None
    path = Path(text).absolute()
    os.environ[variable] = str(path)
    return path
