# SPDX-License-Identifier: BSD-3-Clause
"""The folder of a workload, in workloads/ or anywhere else: which files it has, and what is said of one that it must not have."""

import re
from pathlib import Path

from common.cache import hash_files
from common.outcome import Failure, Outcome, bad_input

DEFINITION = "workload.toml"
_FILES = {
    DEFINITION: "name, variants and parameters",
    "packages.txt": "Debian packages of the guest",
    "flags.txt": "flags of the compiler",
    "README.md": "for people",
}
_FOLDERS = {
    "guest": "files of /mosbench/workloads/NAME, with `run`",
    "src": "programs in C or C++",
    "overlay": "files of the guest's root",
    "from-source": "programs built from Debian's source packages",
    "host": "used where the image is built",
}
_CONTENT = (DEFINITION, "packages.txt", "flags.txt", "guest", "src", "overlay", "from-source")
"""What a run of the workload depends on."""
_DIGITS = 12
"""Of the hash that names a folder's content: 48 bits."""


def is_folder_name(text: str) -> bool:
    """Whether a workload is written as the folder that it lies in, and not by the name of one in workloads/."""
    return "/" in text or text.startswith("~")


def content(folder: Path) -> str:
    """The first digits of the SHA-256 of all that a run of the workload in ``folder`` depends on."""
    return hash_files(*(path for name in _CONTENT if (path := folder / name).exists()))[:_DIGITS]


def check(folder: Path) -> None:
    """Refuse a folder that lacks a file or has one that nothing reads.

    Raises:
        Failure: bad-input, naming the file.
    """
    if not folder.is_dir():
        raise bad_input(f"There is no folder {folder}.", "`run.py workload new NAME` writes one that runs.")
    for name in (DEFINITION, "guest/run"):
        if not (folder / name).is_file():
            what = "what init executes in the guest" if name == "guest/run" else _FILES[name]
            raise bad_input(f"The workload's folder {folder} has no file {name} ({what}).", "docs/guides/workload.md says more.")
    for path in sorted(folder.iterdir()):
        known = _FOLDERS if path.is_dir() else _FILES
        if path.name not in known and not path.name.startswith("."):
            what = "folder" if path.is_dir() else "file"
            raise bad_input(
                f"{path} is no {what} that a workload has.", f"It has {', '.join([*_FILES, *(f'{name}/' for name in _FOLDERS)])}."
            )


def package_names(path: Path) -> tuple[str, ...]:
    """Package names of a packages.txt: one a line, ``#`` starts a comment; none where the file is missing.

    Raises:
        Failure: bad-input for a line that is no package name.
    """
    names = []
    for number, line in _lines(path):
        if not re.fullmatch(r"[a-z0-9][a-z0-9+.-]+", line):
            raise bad_input(f"{path}, line {number}: {line!r} is no package name.", "One Debian package a line.")
        names.append(line)
    return tuple(names)


def compiler_flags(path: Path) -> tuple[str, ...]:
    """Flags of a flags.txt, in any number on a line, ``#`` starts a comment; none where the file is missing.

    Raises:
        Failure: bad-input for a word that is no flag.
    """
    flags = []
    for number, line in _lines(path):
        for word in line.split():
            if not word.startswith("-"):
                raise bad_input(f"{path}, line {number}: {word!r} is no flag of the compiler.", "Flags begin with -.")
            flags.append(word)
    return tuple(flags)


def _lines(path: Path) -> list[tuple[int, str]]:
    """Number and text of the lines that say something."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    except (OSError, UnicodeDecodeError) as error:
        raise Failure(Outcome.BAD_INPUT, f"{path} cannot be read ({error}).", "It is a text file.") from error
    stripped = ((number, line.partition("#")[0].strip()) for number, line in enumerate(lines, 1))
    return [(number, line) for number, line in stripped if line]
