# SPDX-License-Identifier: BSD-3-Clause
"""Insertion of the fast engine's hooks (``fast-engine/qemu/hooks.toml``) into a QEMU source tree."""

import shutil
import tomllib
from pathlib import Path
from typing import Any

from common.outcome import bad_input
from common.paths import REPOSITORY

FAST_ENGINE = REPOSITORY / "fast-engine"
# Headers of what QEMU loads.
INTERFACES = (FAST_ENGINE / "model" / "model_abi.h", REPOSITORY / "native" / "load" / "card_abi.h")


def version() -> str:
    """The version of QEMU that the hooks are written for."""
    return str(_description()["qemu"])


def _description() -> dict[str, Any]:
    return tomllib.loads((FAST_ENGINE / "qemu" / "hooks.toml").read_text())


def apply(tree: Path) -> None:
    """Copy the engine's files into ``tree`` and make every insertion.

    Raises:
        Failure: the tree is another QEMU version, or an anchor does not occur exactly once in its file.
    """
    description = _description()
    _check_version(tree, description["qemu"])
    texts: dict[str, str] = {}
    for hook in description["hook"]:
        name = hook["file"]
        texts[name] = _insert(texts.get(name) or (tree / name).read_text(), hook)
    for name, text in texts.items():
        (tree / name).write_text(text)
    shutil.copytree(FAST_ENGINE / "qemu" / "files", tree, dirs_exist_ok=True)
    for interface in INTERFACES:
        shutil.copy(interface, tree / "include" / "mosbench")


def _check_version(tree: Path, wanted: str) -> None:
    version = (tree / "VERSION").read_text().strip()
    if version != wanted and not version.startswith(wanted + "."):
        raise bad_input(
            f"The QEMU source in {tree} is version {version}, the hooks are written for {wanted}.",
            f"Use Debian 12's qemu source package ({wanted}).",
        )


def _insert(text: str, hook: dict[str, str]) -> str:
    place = next(key for key in ("before", "after", "replace") if key in hook)
    anchor = hook[place]
    count = text.count(anchor)
    if count != 1:
        raise bad_input(
            f"Hook '{hook['why']}' finds its anchor {count} times in {hook['file']}, expected once.",
            "The QEMU source is not the one that fast-engine/qemu/hooks.toml was written for.",
        )
    replacement = {"before": hook["text"] + anchor, "after": anchor + hook["text"], "replace": hook["text"]}[place]
    return text.replace(anchor, replacement)
