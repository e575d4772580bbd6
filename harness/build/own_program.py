# SPDX-License-Identifier: BSD-3-Clause
"""A program of the user's as a workload: the folder of one that runs it once, with what it needs in the guest.

The folder is in the cache, by the content of all that goes into it. Its libraries come as the Debian packages that they are from
on this host, those that are from none as files.
"""

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection

from common.cache import cached, hash_code, hash_files
from common.outcome import bad_input
from common.paths import REPOSITORY, given_path
from harness.spec import workload_folder

REGIONS = ("auto", "whole", "marked")
_LAUNCH = REPOSITORY / "disk-images" / "own-program" / "launch.c"
_MARK = bytes([0x0F, 0x1F, 0x80, 2, 0, 0xED, 0x5E])
"""roi_begin() of disk-images/guest/roi.h."""
_LAUNCH_PLACE = "-Wl,-Ttext-segment=0x70000000"
"""Where no other static program is: code at the same addresses could not be told apart."""
_LOADER = "/lib64/ld-linux-x86-64.so.2"
_GLIBC = (2, 36)
"""Of Debian 12."""
_LIBRARIES = ("/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/local/lib")


@dataclass(frozen=True)
class OwnProgram:
    """What the user asks for. ``program`` is a file of this host, or the name of a command of the guest."""

    program: str
    arguments: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()
    """Copied into the program's working folder, each under its own name."""
    region: str = "auto"


@dataclass(frozen=True)
class Needs:
    """What an ELF file asks of the system: its loader (empty: static), libraries, the newest glibc symbol version."""

    loader: str
    libraries: tuple[str, ...]
    glibc: tuple[int, ...]
    search: tuple[str, ...]


def folder(wanted: OwnProgram) -> Path:
    """The folder of a workload that runs ``wanted``, made unless it is there.

    Raises:
        Failure: bad-input, for a program that the guest cannot run, a file that is not there, or two of one name.
    """
    own = given_path(wanted.program)
    in_guest = "/" not in wanted.program and not own.is_file()
    libraries: tuple[Path, ...] = ()
    packages = list(wanted.packages)
    if not in_guest:
        if not own.is_file():
            raise bad_input(
                f"There is no program {own}.", "Give a file, or the name of a command that a package of --packages has."
            )
        from_packages, libraries = _libraries(own)
        packages += from_packages
    files: dict[str, Path] = {}
    for path in wanted.files:
        if not path.exists():
            raise bad_input(f"There is no file {path}.", "--files takes files of this host.")
        whole = path.resolve() if path.name == ".." else path.absolute()  # a link's own name: the program asks for that one
        if files.setdefault(whole.name, whole) != whole:
            raise bad_input(
                f"--files has two that are called {whole.name}: {files[whole.name]} and {whole}.",
                "Rename one, or give the folders that they are in.",
            )
    region = wanted.region
    if region == "auto":
        marked = not in_guest and any(_MARK in path.read_bytes() for path in (own, *libraries))
        region = "marked" if marked else "whole"
    name = re.sub(r"[^a-z0-9]+", "-", own.name.lower()).strip("-") or "program"
    content = [*([] if in_guest else [own]), *libraries, *files.values(), _LAUNCH]
    inputs: dict[str, object] = {
        "code": hash_code(Path(__file__)),
        "program": wanted.program if in_guest else own.name,
        "arguments": list(wanted.arguments),
        "packages": sorted(set(packages)),
        "region": region,
        "content": [hash_files(path) for path in content],
    }

    def build(entry: Path) -> None:
        target = entry / name
        guest = target / "guest"
        for place in (guest, target / "src"):
            place.mkdir(parents=True)
        shutil.copyfile(_LAUNCH, target / "src" / "launch.c")
        (target / "flags.txt").write_text(f"{_LAUNCH_PLACE}\n", encoding="utf-8")
        here = f"/mosbench/workloads/{name}"
        lines = ["#!/bin/sh", "set -eu"]
        if not in_guest:
            _copy(own, guest / "bin" / own.name)
            (guest / "bin" / own.name).chmod(0o755)
        for library in libraries:
            _copy(library, guest / "lib" / library.name)
        if libraries:
            lines.append(f"export LD_LIBRARY_PATH={here}/lib")
        for called, path in files.items():
            _copy(path, guest / "files" / called)
        if files:
            lines.append(f"cp -r {here}/files/. .")
        program = wanted.program if in_guest else f"{here}/bin/{own.name}"
        lines.append(f"exec {here}/launch {region} {shlex.join([program, *wanted.arguments])}")
        (guest / "run").write_text("\n".join(lines) + "\n", encoding="utf-8")
        (target / "packages.txt").write_text("".join(f"{package}\n" for package in sorted(set(packages))), encoding="utf-8")
        (target / workload_folder.DEFINITION).write_text(_definition(name, own.name, region), encoding="utf-8")

    return cached("programs", name, inputs, build) / name


def _definition(name: str, program: str, region: str) -> str:
    what = "all of it is the region" if region == "whole" else "the region is what it marks"
    return (
        f'name = "{name}"\nsummary = "the program {_plain(program)}, run once"\nunit = "runs"\ndefault_variant = "{region}"\n\n'
        f'[variants.{region}]\nsummary = "{what}"\n'
    )


def _plain(text: str) -> str:
    return re.sub(r'[\\"\x00-\x1f]', "_", text)


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target)
    else:
        shutil.copy(source, target)


def needs(path: Path) -> Needs:
    """What the program or library ``path`` needs.

    Raises:
        Failure: bad-input, when it is none for Linux on x86-64 with Debian 12's C library.
    """
    try:
        with open(path, "rb") as handle:
            start = handle.read(2)
            handle.seek(0)
            if start == b"#!":
                raise bad_input(
                    f"{path} is a script.", "Give its interpreter as the program (and its package), the script with --files."
                )
            return _needs(path, ELFFile(handle))
    except (ELFError, UnicodeDecodeError) as error:
        raise bad_input(f"{path} is not a program of Linux ({error or 'no ELF file'}).", "Give an x86-64 ELF file.") from error


def _needs(path: Path, elf: ELFFile) -> Needs:
    machine = str(elf["e_machine"])
    if machine != "EM_X86_64" or elf.elfclass != 64:
        what = f"{machine.removeprefix('EM_')}, {elf.elfclass} bits"
        raise bad_input(f"{path} is a program for another processor ({what}).", "Compile it for x86-64.")
    if elf["e_type"] not in ("ET_EXEC", "ET_DYN"):
        raise bad_input(f"{path} is no program but {elf['e_type']}.", "Link it.")
    loader = next((segment.data().rstrip(b"\0").decode() for segment in elf.iter_segments("PT_INTERP")), "")
    if loader and loader != _LOADER:
        raise bad_input(f"{path} is for another C library: its loader is {loader}.", "Link it against glibc 2.36, or statically.")
    libraries: list[str] = []
    search: list[str] = []
    glibc: tuple[int, ...] = (0,)
    for section in elf.iter_sections():
        if isinstance(section, DynamicSection):
            for tag in section.iter_tags():
                if tag.entry.d_tag == "DT_NEEDED":
                    libraries.append(_text_of(section, tag.entry.d_val))
                elif tag.entry.d_tag in ("DT_RUNPATH", "DT_RPATH"):
                    text = _text_of(section, tag.entry.d_val)
                    search += text.replace("$ORIGIN", str(path.resolve().parent)).split(":")
        elif isinstance(section, GNUVerNeedSection):
            for _, versions in section.iter_versions():
                for version in versions:
                    if found := re.fullmatch(r"GLIBC_(\d+)\.(\d+)(\.\d+)?", version.name):
                        glibc = max(glibc, (int(found[1]), int(found[2])))
    if glibc > _GLIBC:
        text = ".".join(map(str, glibc))
        raise bad_input(f"{path} needs glibc {text}, and the guest has 2.36.", "Compile it on Debian 12, or link it statically.")
    return Needs(loader, tuple(libraries), glibc, tuple(search))


def _text_of(section: DynamicSection, place: int) -> str:
    """A string of the dynamic section."""
    return str(section._get_stringtable().get_string(place))


def _libraries(program: Path) -> tuple[list[str], tuple[Path, ...]]:
    """Packages of this host that the libraries of ``program`` are from, and those libraries that are from none.

    Raises:
        Failure: bad-input, when this host lacks one.
    """
    packages: set[str] = set()
    own: dict[str, Path] = {}
    waiting, seen = [program], set[str]()
    while waiting:
        user = waiting.pop()
        wanted = needs(user)
        if user is program and not wanted.loader and wanted.libraries:
            raise bad_input(f"{program} is a library.", "Give a program.")
        for name in wanted.libraries:
            if name in seen:
                continue
            seen.add(name)
            file = next((path for place in _places(wanted.search) if (path := Path(place) / name).is_file()), None)
            if file is None:
                raise bad_input(
                    f"{user} needs the library {name}, and this host has none.",
                    "Install its package here, or name its folder in LD_LIBRARY_PATH.",
                )
            if (package := _package_of(file)) is not None:
                packages.add(package)
            else:
                own[name] = file
                waiting.append(file)
    return sorted(packages), tuple(own[name] for name in sorted(own))


def _places(search: Sequence[str]) -> Iterator[str]:
    yield from filter(None, search)
    yield from filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(":"))
    yield from _LIBRARIES


def _package_of(file: Path) -> str | None:
    """The Debian package that a file of this host is from; None if it is from none."""
    merged = str(file).removeprefix("/usr")
    for name in (f"/usr{merged}", merged, str(file.resolve())):
        done = subprocess.run(["dpkg-query", "--search", name], capture_output=True, text=True, check=False)
        if done.returncode == 0 and ": " in done.stdout:
            return done.stdout.partition(": ")[0].partition(",")[0].partition(":")[0]
    return None
