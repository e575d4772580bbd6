# SPDX-License-Identifier: BSD-3-Clause
"""Programs of the guest, compiled on this host: the same bytes wherever the repository and a workload's folder lie."""

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from common.outcome import bad_input
from common.paths import REPOSITORY
from common.progress import run_logged
from harness.build.ext2 import Entry

GUEST = REPOSITORY / "disk-images" / "guest"
"""Our own programs and the headers of all."""
_SHARED = ".so"
_FLAGS = ("-O2", "-g", "-Wall", "-Wextra", "-Werror", "-pthread", "-Wl,--build-id=none")


@dataclass(frozen=True)
class Language:
    """A language of guest programs, told by the names of its files."""

    name: str
    suffixes: tuple[str, ...]
    compiler: str
    package: str
    flags: tuple[str, ...]


_C = Language("C", (".c",), "gcc", "gcc", ("-std=gnu17",))
# Its library is part of the program, so that a program with libraries of the image needs no package for it.
_CPP = Language("C++", (".cc", ".cpp", ".cxx"), "g++", "g++", ("-std=gnu++20", "-static-libstdc++", "-static-libgcc"))
LANGUAGES = (_C, _CPP)


def sources_of(folder: Path) -> dict[str, Path]:
    """Program -> its source, of the workload in ``folder``: each file of C or C++ in ``src/`` is one program, each folder
    ``src/<program>/`` one that is made from all its files.

    Raises:
        Failure: bad-input, for two of one name, and a folder with files in both languages.
    """
    found: dict[str, Path] = {}
    for path in sorted(folder.glob("src/*")):
        if not (_files(path) if path.is_dir() else language_of(path)):
            continue
        name = path.name if path.is_dir() else path.stem
        if name in found:
            raise bad_input(f"Both {found[name]} and {path} are the program {name}.", "Rename one of the two.")
        found[name] = path
    for path in found.values():
        _language(path)
    return found


def language_of(file: Path) -> Language | None:
    """The language of a file, None for one that is not compiled."""
    return next((one for one in LANGUAGES if file.suffix in one.suffixes), None)


def languages(folder: Path) -> set[Language]:
    """Those of the programs of the workload in ``folder``."""
    return {_language(source) for source in sources_of(folder).values()}


def _files(source: Path) -> list[Path]:
    """What is compiled of one file or a folder."""
    files = sorted(source.iterdir()) if source.is_dir() else [source]
    return [path for path in files if language_of(path) is not None]


def _language(source: Path) -> Language:
    found = {one for path in _files(source) if (one := language_of(path)) is not None}
    if len(found) != 1:
        raise bad_input(f"{source} has files in C and in C++.", "A program is in one language: make two of it, or rename files.")
    return found.pop()


def compile_command(source: Path, program: Path, flags: Sequence[str] = ()) -> list[str | Path]:
    """How ``program`` is made from one file of C or C++, or all of a folder; ``flags`` come after ours.

    It is static, unless libraries.txt in the folder names libraries of the image (as after -l, one a line). A folder whose
    name ends in .so is made into a shared library, for programs of the image to preload.
    """
    libraries = source / "libraries.txt"
    # Names of the host's folders would make two machines' images differ: workloads/NAME/src/... is what is left of them.
    workloads = source.parents[2]
    language = _language(source)
    command: list[str | Path] = [language.compiler, *language.flags, *_FLAGS, f"-ffile-prefix-map={REPOSITORY}=/mosbench-gem5"]
    if not workloads.is_relative_to(REPOSITORY):
        command.append(f"-ffile-prefix-map={workloads}=/mosbench-gem5/workloads")
    command += [*flags, f"-I{GUEST}", f"-I{source.parent}", "-o", program]
    command += _files(source)
    if source.suffix == _SHARED:
        command += ["-shared", "-fPIC"]
    elif not libraries.is_file():
        command.append("-static")
    command += [f"-l{name}" for name in libraries.read_text().split()] if libraries.is_file() else []
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


def compiler_version(language: Language = _C) -> str:
    """Version and target of the compiler of a language.

    Raises:
        Failure: bad-input, when there is none.
    """
    try:
        done = subprocess.run([language.compiler, "-dumpfullversion", "-dumpmachine"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        what = f"{language.compiler} does not run, and the guest's programs in {language.name} are compiled with it."
        raise bad_input(what, f"Install the packages {language.package} and libc6-dev.") from error
    return done.stdout.strip()
