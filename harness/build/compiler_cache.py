# SPDX-License-Identifier: BSD-3-Clause
"""The compiler of sources that are not ours: behind ccache, and with the build folder's name in nothing that it makes."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from common.paths import cache_root


def settings(tree: Path) -> dict[str, str]:
    """ccache's environment for a build in ``tree``. Builds that differ in a few files share the objects of all the others."""
    folder = cache_root() / "ccache"
    folder.mkdir(parents=True, exist_ok=True)
    values = {
        "DIR": folder,
        "CONFIGPATH": "/dev/null",
        "MAXSIZE": "3G",
        # The build folder's name is in no object (-ffile-prefix-map), so it must not tell two builds apart.
        "NOHASHDIR": "true",
        "BASEDIR": tree,
        "COMPILERCHECK": "content",
        # What an object depends on is what the compiler says, where it is asked to (-MD). Otherwise each new source is
        # preprocessed twice. Kernels do without: see kernel_tree.
        "DEPEND": "true",
        "SLOPPINESS": "file_macro,locale",
    }
    return {f"CCACHE_{key}": str(value) for key, value in values.items()}


def wrapper(compiler: str, folder: Path, tree: Path, prefix: str, flags: Sequence[str] = ()) -> Path:
    """A compiler, written into ``folder``, that knows ``flags`` in front of those it is given and calls ``tree`` ``prefix``."""
    path = folder / compiler
    words = " ".join([f"'-ffile-prefix-map={tree}={prefix}'", *flags])
    path.write_text(f'#!/bin/sh\nexec ccache {shutil.which(compiler)} {words} "$@"\n')
    path.chmod(0o755)
    return path
