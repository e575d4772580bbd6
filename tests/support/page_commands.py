# SPDX-License-Identifier: BSD-3-Clause
"""The commands that pages of the documentation show, and settings to run them with."""

import re
from collections.abc import Iterator
from pathlib import Path

from common import settings
from common.paths import REPOSITORY
from harness.cli.test import SOURCES

NOT_RUN = {"./run.py test", "./run.py test --layer static --layer unit"}
"""What runs them is a test: it cannot run itself."""
SECONDS = 1800


def pages(*patterns: str) -> list[Path]:
    return [path for pattern in patterns for path in sorted(REPOSITORY.glob(pattern))]


def commands(page: Path) -> Iterator[str]:
    """The lines of the page's code blocks that call run.py, a line that ends with a backslash with the next one."""
    for block in re.findall(r"^```\w*\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        for line in re.sub(r"\\\n\s*", "", block).splitlines():
            if line.strip().startswith("./run.py"):
                yield re.sub(r"\s+#.*", "", line.strip())


def source_of(command: str) -> str | None:
    """The layer of the tests whose kernel source the command names; None if it names none that the user brings."""
    return next((layer for layer, source in SOURCES.items() if source in command), None)


def settings_in(folder: Path) -> Path:
    """The user's settings with folders of the test's own for runs and reports."""
    lines = [f'runs = "{folder / "runs"}"', f'reports = "{folder / "reports"}"']
    lines += [f'{settings.source_key(name)} = "{path}"' for name, path in settings.load().sources.items()]
    file = folder / "settings.toml"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file
