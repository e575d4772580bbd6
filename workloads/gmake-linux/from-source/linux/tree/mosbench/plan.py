# SPDX-License-Identifier: BSD-3-Clause
"""Run in a kernel tree after the objects of some folders were built: packs what building them again needs, for the guest.

kbuild leaves beside each object how it was compiled and all files that the compiler read (``.NAME.o.cmd``). The archive has these
files, kbuild's `fixdep`, and in ``mosbench/``

    order        the objects, a line each; the first of them are of all folders and sizes, however many one takes
    FOLDER.mk    a makefile of a folder's objects (a / in its name is a +), which are put into $(O) and linked into one
    reference    SHA-256 of each object as this host's compiler makes it with these makefiles
    compiler     that compiler's version, and the assembler's: another makes other objects
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

OURS = Path("mosbench")
_FIXDEP = Path("scripts/basic/fixdep")
_ALWAYS = (_FIXDEP, Path("include/generated/autoconf.h"))
"""`fixdep` leaves the second out of its lists."""
_TRIAL = OURS / "trial"
_EPOCH = 1704067200


@dataclass(frozen=True)
class Object:
    """One object: the compiler's command as a makefile has it, with its output in $(O), and what it reads."""

    path: Path
    command: str
    source: Path
    files: tuple[Path, ...]


def read(command_file: Path) -> Object | None:
    """The object of a ``.NAME.o.cmd``; None where it is not compiled from C."""
    text = command_file.read_text(encoding="utf-8")
    path = command_file.with_name(command_file.name.removeprefix(".").removesuffix(".cmd"))
    found = re.search(
        rf"^(?:saved)?cmd_{re.escape(str(path))} := \S+ (-Wp,-MMD,\S+ .* -c -o {re.escape(str(path))} (\S+\.c))\b", text, re.M
    )
    if found is None:
        return None
    dependencies = command_file.with_name(f".{path.name}.d")
    words = (
        found[1].replace(f"-Wp,-MMD,{dependencies} ", f"-Wp,-MMD,$(O)/{dependencies} ").replace(f"-o {path} ", f"-o $(O)/{path} ")
    )
    read_too = [
        Path(os.path.normpath(name)) for name in re.findall(r"^ +([^\s$\\]+)", text.partition(f"deps_{path} :=")[2], re.M)
    ]
    files = {Path(found[2]), *(name for name in read_too if not name.is_absolute() and name.is_file())}
    return Object(path, f"gcc {words}", Path(found[2]), tuple(sorted(files)))


def in_order(objects: Iterable[Object]) -> list[Object]:
    """The objects in an order that has nothing to do with their folders, always the same."""
    return sorted(objects, key=lambda one: hashlib.sha256(str(one.path).encode()).hexdigest())


def by_folder(objects: Iterable[Object]) -> dict[Path, list[Object]]:
    folders: dict[Path, list[Object]] = {}
    for one in objects:
        folders.setdefault(one.path.parent, []).append(one)
    return folders


def makefile(folder: Path, objects: Sequence[Object]) -> str:
    """A folder's makefile. As kbuild's, a rule compiles and then reduces the list of what the compiler read."""
    lines = [
        "MAKEFLAGS += --no-builtin-rules --no-builtin-variables",
        f"$(O)/{folder}/built-in.o: $(addprefix $(O)/,$(OBJECTS))",
        "\tld -r -o $@ $^",
    ]
    for one in objects:
        beside = f"$(O)/{one.path.parent}/.{one.path.name}"
        lines += [
            f"$(O)/{one.path}: {one.source}",
            f"\tset -e; {one.command}; {_FIXDEP} {beside}.d $@ gcc > {beside}.cmd; rm {beside}.d",
        ]
    return "\n".join(lines) + "\n"


def build(tree: Path, folders: Mapping[Path, Sequence[Object]]) -> None:
    """Build all objects of ``tree`` into its folder ``out`` by the makefiles."""
    for folder, objects in folders.items():
        (tree / "out" / folder).mkdir(parents=True, exist_ok=True)
        names = " ".join(str(one.path) for one in objects)
        jobs = f"-j{len(os.sched_getaffinity(0))}"
        subprocess.run(["make", "-s", jobs, "-f", _name(folder), "O=out", f"OBJECTS={names}"], cwd=tree, check=True)


def _name(folder: Path) -> Path:
    return OURS / f"{str(folder).replace('/', '+')}.mk"


def compilers() -> str:
    """Versions of the programs whose output the hashes are of."""
    said = [subprocess.run([name, "--version"], capture_output=True, text=True, check=True).stdout for name in ("gcc", "as")]
    return "".join(text.partition("\n")[0] + "\n" for text in said)


def pack(files: Iterable[Path], archive: Path) -> None:
    """An archive that is the same whoever makes it."""

    def plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
        member.uid = member.gid = 0
        member.uname = member.gname = "root"
        member.mtime = _EPOCH
        member.mode = 0o755 if member.mode & 0o100 else 0o644
        return member

    with tarfile.open(archive, "w") as out:
        for path in sorted(set(files)):
            out.add(path, filter=plain)


def main(folders: Sequence[str]) -> None:
    found = [one for name in folders for path in sorted(Path(name).rglob(".*.o.cmd")) if (one := read(path)) is not None]
    ordered = in_order(found)
    groups = by_folder(ordered)
    for folder, objects in groups.items():
        _name(folder).write_text(makefile(folder, objects), encoding="utf-8")
    (OURS / "order").write_text("".join(f"{one.path}\n" for one in ordered), encoding="utf-8")
    (OURS / "compiler").write_text(compilers(), encoding="utf-8")
    files = {*_ALWAYS, OURS / "order", OURS / "compiler", *map(_name, groups), *(path for one in ordered for path in one.files)}
    for path in files:  # what is packed suffices for the build
        (_TRIAL / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, _TRIAL / path)
    build(_TRIAL, groups)
    hashes = [f"{hashlib.sha256((_TRIAL / 'out' / one.path).read_bytes()).hexdigest()}  {one.path}\n" for one in ordered]
    (OURS / "reference").write_text("".join(hashes), encoding="utf-8")
    pack([*files, OURS / "reference"], OURS / "linux.tar")


if __name__ == "__main__":
    main(sys.argv[1:])
