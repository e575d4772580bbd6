# SPDX-License-Identifier: BSD-3-Clause
"""A kernel's configuration: its base, the source's fragment, and the lines that pieces and fixes add."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from common.outcome import bad_input
from common.progress import run_logged
from harness.spec.fixes import Piece
from harness.spec.kernel import Recipe


def configure(
    recipe: Recipe,
    fixes: Sequence[Piece],
    extra_config: Sequence[str],
    tree: Path,
    make: Sequence[str],
    environment: Mapping[str, str],
    log: Path,
) -> None:
    """Write ``tree``'s configuration: the base, the fragment, and the lines of pieces, fixes and ``extra_config``.

    Raises:
        Failure: bad-input, when the kernel does not take over one of them.
    """
    more = [*(line for piece in (*recipe.pieces, *fixes) for line in piece.config), *extra_config]
    fragment = with_settings(recipe.fragment.read_text(), more)
    written = tree / ".mosbench-config"
    written.write_text(fragment)
    with_fragment = {**environment, "KCONFIG_ALLCONFIG": str(written)}
    run_logged("Configuring the kernel", [*make, recipe.base], log, cwd=tree, environment=with_fragment, cure=f"See {log}.")
    lost = lost_settings(fragment, (tree / ".config").read_text())
    if lost:
        raise bad_input(f"The kernel's configuration does not take over {', '.join(lost)}.", f"Correct {recipe.fragment}.")


def with_settings(fragment: str, more: Sequence[str]) -> str:
    """``fragment`` with the lines ``more``, each in place of the line that sets the same option."""
    names = {_option(line) for line in more}
    kept = [line for line in fragment.splitlines() if _option(line) not in names or not _option(line)]
    return "".join(f"{line}\n" for line in [*kept, *more])


def settings(fragment: str) -> list[str]:
    """The lines of ``fragment`` that set an option, "# CONFIG_X is not set" among them; other comments say nothing to a build."""
    return [line for line in map(str.strip, fragment.splitlines()) if line.startswith("CONFIG_") or _option(line)]


def _option(line: str) -> str:
    found = re.match(r"(?:# )?(CONFIG_\w+)(?:=| is not set$)", line)
    return found[1] if found else ""


def lost_settings(fragment: str, config: str) -> list[str]:
    """Lines of ``fragment`` that are not so in ``config``; "# CONFIG_X is not set" also holds where X does not exist."""
    states = set(config.splitlines())
    set_names = {line.partition("=")[0] for line in states if line.startswith("CONFIG_")}
    lost = []
    for line in settings(fragment):
        off = re.fullmatch(r"# (CONFIG_\w+) is not set", line)
        if (off and off[1] in set_names) or (not off and line not in states):
            lost.append(line.removeprefix("# "))
    return lost
