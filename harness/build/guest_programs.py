# SPDX-License-Identifier: BSD-3-Clause
"""Programs of the guest, compiled on this host: the same bytes wherever the repository and a workload's folder lie."""

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from common.outcome import bad_input
from common.paths import REPOSITORY
from common.progress import run_logged
from harness.build.ext2 import Entry

GUEST = REPOSITORY / "disk-images" / "guest"
"""Our own programs and the headers of all."""
_COMPILER = "gcc"
_FLAGS = ("-std=gnu17", "-O2", "-g", "-Wall", "-Wextra", "-Werror", "-pthread", "-Wl,--build-id=none")


def sources_of(folder: Path) -> dict[str, Path]:
    """Program -> its source, of the workload in ``folder``: each ``src/*.c`` is one program, each folder ``src/<program>/`` one
    that is made from all its .c files."""
    programs = {path.stem: path for path in sorted(folder.glob("src/*.c"))}
    return programs | {path.name: path for path in sorted(folder.glob("src/*")) if any(path.glob("*.c"))}


def compile_command(source: Path, program: Path, flags: Sequence[str] = ()) -> list[str | Path]:
    """How ``program`` is made from one .c file or all of a folder; ``flags`` come after ours.

    It is static, unless libraries.txt in the folder names libraries of the image (as after -l, one a line).
    """
    libraries = source / "libraries.txt"
    # Names of the host's folders would make two machines' images differ: workloads/NAME/src/... is what is left of them.
    workloads = source.parents[2]
    command: list[str | Path] = [_COMPILER, *_FLAGS, f"-ffile-prefix-map={REPOSITORY}=/mosbench-gem5"]
    if not workloads.is_relative_to(REPOSITORY):
        command.append(f"-ffile-prefix-map={workloads}=/mosbench-gem5/workloads")
    command += [*flags, f"-I{GUEST}", f"-I{source.parent}", "-o", program]
    command += sorted(source.glob("*.c")) if source.is_dir() else [source]
    command += [f"-l{name}" for name in libraries.read_text().split()] if libraries.is_file() else ["-static"]
    return [*command, "-lm"]


def add(
    tree: dict[PurePosixPath, Entry], programs: Mapping[PurePosixPath, Path], flags: Sequence[str], scratch: Path, log: Path
) -> None:
    """Compile ``programs`` (place in the image -> source) below ``scratch`` and add them to ``tree``.

    Raises:
        Failure: bad-input, when one does not compile; its sentence names the log.
    """
    for number, (path, source) in enumerate(sorted(programs.items())):
        program = scratch / f"program-{number}"
        what = source.relative_to(REPOSITORY) if source.is_relative_to(REPOSITORY) else source
        run_logged(f"Compiling {what}", compile_command(source, program, flags), log, cwd=REPOSITORY, cure=f"See {log}.")
        tree[path] = Entry.file(program, 0o755)


def compiler_version() -> str:
    """Version and target of the compiler.

    Raises:
        Failure: bad-input, when there is none.
    """
    try:
        done = subprocess.run([_COMPILER, "-dumpfullversion", "-dumpmachine"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        what = f"{_COMPILER} does not run, and the guest's programs are compiled with it."
        raise bad_input(what, "Install the packages gcc and libc6-dev.") from error
    return done.stdout.strip()
