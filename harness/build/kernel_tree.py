# SPDX-License-Identifier: BSD-3-Clause
"""How a kernel is made in a folder: the source with its changes, the compiler's wrapper, make, and what is kept of it."""

import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from common.progress import run_logged, step
from harness.build import compiler_cache
from harness.build import source_changes as changes
from harness.build.kernel_configuration import configure
from harness.build.kernel_source import check_version, unpack
from harness.spec.fixes import Piece
from harness.spec.kernel import Recipe

# The build folder's name in debugging information: fixed, so that it does not depend on the cache's place.
SOURCE_PREFIX = "/linux"
_HEADERS = "arch/x86/include"
_IDENTITY = {
    "KBUILD_BUILD_TIMESTAMP": "Mon Jan  1 00:00:00 UTC 2024",
    "KBUILD_BUILD_USER": "mosbench",
    "KBUILD_BUILD_HOST": "mosbench",
    "KBUILD_BUILD_VERSION": "1",
}
_CLOCK = {"LC_ALL": "C", "TZ": "UTC", "SOURCE_DATE_EPOCH": "1704067200"}  # the same moment as above
# Each fix has an option, so the header with all options is another one in each kernel. So ccache looks at what the preprocessor
# makes of a source: where that is the same, the object is. A first kernel takes longer for it, each new source being
# preprocessed twice. And Linux 2.6.35 must not write the date into that header.
_SHARED = {"KCONFIG_NOTIMESTAMP": "1"}
# Variables that would change the build behind our back.
_NOT_PASSED = re.compile(
    r"^(MAKE|MFLAGS|CCACHE_|ARCH$|CROSS_COMPILE$|KBUILD_|KCFLAGS|KAFLAGS|KCONFIG_|LOCALVERSION|CC$|CFLAGS|LDFLAGS|INSTALL)"
)


def make_kernel(
    recipe: Recipe, fixes: Sequence[Piece], extra_config: Sequence[str], origin: Path, tree: Path, folder: Path, log: Path
) -> tuple[str, str]:
    """Build in the new folder ``tree``, which is removed, and put what is kept into ``folder``; the version and the release.

    Raises:
        Failure: bad-input, when a change does not apply or the build fails.
    """
    version = changed_tree(recipe, fixes, origin, tree, log)
    wrapper, make, environment = build_command(recipe, folder, tree)
    configure(recipe, fixes, extra_config, tree, make, environment, log)
    jobs = f"-j{len(os.sched_getaffinity(0)) + 1}"
    title = f"Building Linux {version}"
    run_logged(title, [*make, jobs, *recipe.targets], log, cwd=tree, environment=environment, cure=f"See {log}.")
    release = (tree / "include/config/kernel.release").read_text().strip()
    for made, name in (("vmlinux", "vmlinux"), (recipe.bzimage, "bzImage"), (".config", "config"), ("System.map", "System.map")):
        shutil.move(tree / made, folder / name)
    with step("Removing the build tree"):
        shutil.rmtree(tree)
    wrapper.unlink()
    return version, release


def changed_tree(recipe: Recipe, fixes: Sequence[Piece], origin: Path, tree: Path, log: Path) -> str:
    """The source with every piece and ``fixes`` in the new folder ``tree``; its version."""
    unpack(recipe, origin, tree, log)
    version = check_version(recipe, tree)
    for piece in recipe.pieces:
        changes.apply(piece, tree)
    with step(f"Applying {', '.join(piece.name for piece in fixes)}"):
        for piece in fixes:
            changes.apply(piece, tree)
    return version


def build_command(recipe: Recipe, folder: Path, tree: Path, flags: Sequence[str] = ()) -> tuple[Path, list[str], dict[str, str]]:
    """The compiler's wrapper (written into ``folder``), how make is called in ``tree`` and with which environment.

    ``flags``: more flags of the compiler, before the recipe's.
    """
    # ccache gives the compiler the names of folders in ``tree`` without it; Linux 2.6.35 has this one with it.
    headers = f"-ffile-prefix-map={_HEADERS}={SOURCE_PREFIX}/{_HEADERS}"
    wrapper = compiler_cache.wrapper(recipe.compiler, folder, tree, SOURCE_PREFIX, (headers, *flags, *recipe.compiler_flags))
    make = ["make", f"CC={wrapper}", *(f"{key}={value}" for key, value in _IDENTITY.items())]
    kept = {key: value for key, value in os.environ.items() if not _NOT_PASSED.match(key)}
    cache = {key: value for key, value in compiler_cache.settings(tree).items() if key != "CCACHE_DEPEND"}
    return wrapper, make, {**kept, **_IDENTITY, **_CLOCK, **cache, **_SHARED}
