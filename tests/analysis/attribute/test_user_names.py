# SPDX-License-Identifier: BSD-3-Clause
"""Names of user code and static data, of programs compiled here: with DWARF, with symbols, stripped, static and in C++."""

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from analysis.attribute.processes import Mapping, Process
from analysis.attribute.source_lines import USER
from analysis.attribute.subjects import USER_MEMORY
from analysis.attribute.user_module import UserModule
from analysis.attribute.user_names import UserNames, name_user_data

pytestmark = pytest.mark.unit

SOURCE = """
#include <stdio.h>
long counted[64];
long set_before = 3;
__attribute__((noinline)) static long inner(long n) { return counted[n & 63]++ + n; }
__attribute__((noinline, visibility("default"))) long outer(long n) { return inner(n) * set_before; }
int main(int argc, char **argv) { (void)argv; printf("%ld\\n", outer(argc)); return 0; }
"""
BASE = 0x555555554000


def build(folder: Path, *flags: str, source: str = SOURCE, compiler: str = "gcc") -> Path:
    file = folder / ("a.cc" if compiler == "g++" else "a.c")
    file.write_text(source)
    program = folder / "a.out"
    subprocess.run([compiler, "-O1", "-o", program, file, *flags], check=True)
    return program


def symbol(program: Path, name: str) -> int:
    """The address of a symbol, as another reader has it."""
    listed = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    found = re.search(rf"^([0-9a-f]+) \w {name}$", listed, re.MULTILINE)
    assert found is not None, listed
    return int(found[1], 16)


def offset(program: Path, address: int) -> int:
    """The byte of the file at an address."""
    listed = subprocess.run(["readelf", "-lW", program], capture_output=True, text=True, check=True).stdout
    for low, start, size in re.findall(r"LOAD +0x(\w+) 0x(\w+) 0x\w+ 0x(\w+)", listed):
        if int(start, 16) <= address < int(start, 16) + int(size, 16):
            return address - int(start, 16) + int(low, 16)
    raise AssertionError(listed)


def code(program: Path, address: int, name: str = "a.out") -> tuple[str, str, int]:
    module = UserModule(name, program)
    place = offset(program, address)
    assert module.address(place) == address
    site = module.code(address, place)
    return site.function, site.inner.file, site.inner.line


def test_with_debug_information(tmp_path: Path) -> None:
    program = build(tmp_path, "-g", f"-ffile-prefix-map={tmp_path}=/mosbench-gem5/mine")
    function, file, line = code(program, symbol(program, "inner") + 2)
    assert (function, file) == ("inner", "mine/a.c")
    assert SOURCE.splitlines()[line - 1].startswith("__attribute__((noinline)) static long inner")


@pytest.mark.parametrize("flags", [(), ("-static",), ("-no-pie",)])
def test_with_symbols_alone(tmp_path: Path, flags: tuple[str, ...]) -> None:
    program = build(tmp_path, *flags)
    assert code(program, symbol(program, "inner") + 2) == ("inner", "a.out", 0)
    assert str(UserModule("a.out", program).code(symbol(program, "inner"), 0).frames[0]) == "inner a.out"
    assert UserModule("a.out", program).variable(symbol(program, "counted") + 8) == "counted"


def test_stripped_code_is_named_by_what_is_exported_or_by_file_and_start(tmp_path: Path) -> None:
    library = build(tmp_path, "-shared", "-fPIC")
    inner, outer = symbol(library, "inner"), symbol(library, "outer")
    subprocess.run(["strip", library], check=True)
    assert code(library, outer + 2, "liba.so") == ("outer", "liba.so", 0)
    assert code(library, inner + 2, "liba.so") == (f"liba.so+{inner:#x}", "liba.so", 0)


def test_names_of_cplusplus_are_readable(tmp_path: Path) -> None:
    source = "namespace a { struct b { __attribute__((noinline)) int c(int n) { return n * 3; } }; }"
    source += "\nint main() { return a::b().c(7); }\n"
    program = build(tmp_path, source=source, compiler="g++")
    address = symbol(program, "_ZN1a1b1cEi")
    assert code(program, address + 1)[0] == "a::b::c"


@pytest.mark.parametrize("content", [b"", b"#!/bin/sh\n", b"\x7fELF\x02\x01\x01" + bytes(40)])
def test_a_file_that_is_no_program_has_its_name(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "script"
    file.write_bytes(content)
    module = UserModule("script", file)
    assert module.address(0x123) is None
    assert module.code(None, 0x123).function == "script+0x123"
    assert module.variable(0x123) is None


def mapped(program: Path, base: int, name: str = "/mosbench/a.out", file_system: str = "ext2") -> list[Mapping]:
    """The mappings that the kernel makes of a program, and the memory behind it."""
    listed = subprocess.run(["readelf", "-lW", program], capture_output=True, text=True, check=True).stdout
    out, end = [], 0
    for low, start, size, memory, flags in re.findall(r"LOAD +0x(\w+) 0x(\w+) 0x\w+ 0x(\w+) 0x(\w+) (...)", listed):
        first = base + int(start, 16) & ~0xFFF
        end = base + int(start, 16) + int(size, 16) + 0xFFF & ~0xFFF
        out.append(Mapping(first, end, "E" in flags, name, file_system, int(low, 16) & ~0xFFF))
        whole = base + int(start, 16) + int(memory, 16) + 0xFFF & ~0xFFF
        if whole > end:
            out.append(Mapping(end, whole, False))
    return out


def names(*processes: Process, files: dict[str, Path]) -> UserNames:
    return UserNames(lambda: processes, files.get)


def test_addresses_of_a_process(tmp_path: Path) -> None:
    program = build(tmp_path, "-pie", "-fPIE")
    user = names(Process("a", mapped(program, BASE), None), files={"/mosbench/a.out": program})
    inner, counted, before = (symbol(program, name) for name in ("inner", "counted", "set_before"))
    found = user.sites([BASE + inner + 2, 0x1234, 0])
    assert found[BASE + inner + 2].function == "inner"
    assert found[0x1234] == found[0] == USER
    assert user.variable(BASE + counted + 500) == "counted (a.out)"
    assert user.variable(BASE + before) == "set_before (a.out)"
    assert user.variable(BASE + counted + 512 + (1 << 30)) is None


def test_processes_with_other_code_at_an_address_are_told_apart_or_both_are_named(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    program, other = build(tmp_path, "-pie"), build(tmp_path / "other", "-pie", source=SOURCE.replace("inner", "different"))
    files = {"/mosbench/a.out": program, "/usr/bin/b": other}
    address = BASE + symbol(program, "inner") + 2
    one, two = (Process(name, mapped(file, BASE, name), None) for name, file in files.items())
    assert names(one, two, files=files).sites([address])[address].function == "inner | different"
    assert names(one, one, files=files).sites([address])[address].function == "inner"
    two.has_page = lambda address: False  # type: ignore[method-assign]
    assert names(one, two, files=files).sites([address])[address].function == "inner"


def test_a_file_that_is_not_on_the_workload_s_disk_is_not_looked_for_there(tmp_path: Path) -> None:
    program = build(tmp_path, "-pie")
    mappings = mapped(program, BASE, "/usr/bin/a.out", "tmpfs")
    address = BASE + symbol(program, "inner") + 2
    user = names(Process("a", mappings, None), files={"/usr/bin/a.out": program})
    assert user.sites([address])[address].function == f"a.out+{offset(program, address - BASE):#x}"


class _Labels:
    def __init__(self, texts: list[str], codes: list[int]) -> None:
        self.texts, self.codes, self.typed = texts, np.array(codes), [False] * len(texts)


def test_static_data_is_named_behind_the_label(tmp_path: Path) -> None:
    program = build(tmp_path, "-pie")
    user = names(Process("a", mapped(program, BASE), None), files={"/mosbench/a.out": program})
    counted = BASE + symbol(program, "counted")
    labels = _Labels(["inode.i_lock", USER_MEMORY], [0, 1, 1, 1, 1])
    name_user_data(labels, np.array([counted, counted, counted + 64, 0, 1 << 40], np.uint64), user)
    assert [labels.texts[code] for code in labels.codes] == [
        "inode.i_lock",
        *[f"{USER_MEMORY}: counted (a.out)"] * 2,
        *[USER_MEMORY] * 2,
    ]
    assert len(labels.typed) == len(labels.texts)
