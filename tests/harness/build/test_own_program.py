# SPDX-License-Identifier: BSD-3-Clause
"""A program of the user's becomes a workload's folder: what it has in it, and programs that the guest cannot run."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from common.outcome import Failure, Outcome
from harness.build import guest_programs, own_program
from harness.build.own_program import OwnProgram
from harness.spec import workload

pytestmark = pytest.mark.unit

LOADER = b"/lib64/ld-linux-x86-64.so.2"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOSBENCH_CACHE", str(tmp_path / "cache"))


def build(folder: Path, text: str = "int main(void) { return 0; }", *flags: str, name: str = "A.out") -> Path:
    source, program = folder / "a.c", folder / name
    source.write_text(text)
    subprocess.run(["gcc", "-o", program, source, *flags], check=True)
    return program


def test_the_folder_is_a_workload_named_by_its_content(tmp_path: Path) -> None:
    program = build(tmp_path)
    wanted = OwnProgram(str(program), ("a b", "$HOME"))
    folder = own_program.folder(wanted)
    loaded = workload.load(str(folder))
    assert (loaded.name, loaded.default_variant) == ("a-out", "whole")
    assert "libc6" in loaded.packages
    script = (folder / "guest/run").read_text()
    assert script.endswith("exec /mosbench/workloads/a-out/launch whole /mosbench/workloads/a-out/bin/A.out 'a b' '$HOME'\n")
    assert own_program.folder(wanted) == folder
    assert own_program.folder(replace(wanted, arguments=())) != folder
    program.write_bytes(program.read_bytes() + b"x")
    assert own_program.folder(wanted) != folder


def test_a_program_with_a_mark_has_the_region_that_it_marks(tmp_path: Path) -> None:
    text = '#include "roi.h"\nint main(void) { roi_begin(); roi_end(); return 0; }'
    program = build(tmp_path, text, "-D_GNU_SOURCE", f"-I{guest_programs.GUEST}")
    assert workload.load(str(own_program.folder(OwnProgram(str(program))))).default_variant == "marked"
    assert workload.load(str(own_program.folder(OwnProgram(str(program), region="whole")))).default_variant == "whole"


def test_libraries_come_as_packages_or_else_as_files(tmp_path: Path) -> None:
    build(tmp_path, "int f(void) { return 0; }", "-shared", "-fPIC", name="libmine.so")
    program = build(tmp_path, "int f(void); int main(void) { return f(); }", f"-L{tmp_path}", "-lmine", "-Wl,-rpath,$ORIGIN")
    folder = own_program.folder(OwnProgram(str(program)))
    assert (folder / "guest/lib/libmine.so").is_file()
    assert "LD_LIBRARY_PATH=/mosbench/workloads/a-out/lib" in (folder / "guest/run").read_text()
    (tmp_path / "libmine.so").unlink()
    with pytest.raises(Failure, match=r"needs the library libmine\.so, and this host has none"):
        own_program.folder(OwnProgram(str(program)))


def test_a_command_of_the_guest_and_files(tmp_path: Path) -> None:
    script = tmp_path / "x.py"
    script.write_text("print(1)\n")
    folder = own_program.folder(OwnProgram("python3", ("x.py",), ("python3-minimal",), (script,)))
    assert workload.load(str(folder)).packages == ("python3-minimal",)
    assert (folder / "guest/files/x.py").read_text() == "print(1)\n"
    assert "launch whole python3 x.py" in (folder / "guest/run").read_text()
    with pytest.raises(Failure, match="There is no file"):
        own_program.folder(OwnProgram("python3", files=(tmp_path / "gone",)))


def test_files_keep_their_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = tmp_path / "mine"
    for name in ("a", "b"):
        (mine / name).mkdir(parents=True)
        (mine / name / "data").write_text(name)
    (mine / "current").symlink_to("a/data")
    (mine / "here").symlink_to("b")
    monkeypatch.chdir(mine / "a")
    given = tuple(map(Path, ("../current", "../here/", "..", ".", "data")))
    files = own_program.folder(OwnProgram("sort", files=given)) / "guest/files"
    assert sorted(path.name for path in files.iterdir()) == ["a", "current", "data", "here", "mine"]
    assert [(files / name).read_text() for name in ("current", "here/data", "a/data", "data")] == ["a", "b", "a", "a"]
    (mine / "b/a").mkdir()
    for two in (("data", "../b/data"), ("../a", "../b/a")):
        with pytest.raises(Failure, match=r"--files has two that are called (data|a): \S+ and \S+\. Rename one") as caught:
            own_program.folder(OwnProgram("sort", files=tuple(map(Path, two))))
        assert caught.value.outcome is Outcome.BAD_INPUT


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (lambda data: data[:18] + b"\xb7\0" + data[20:], "another processor .AARCH64, 64 bits"),
        (
            lambda data: data.replace(LOADER, b"/lib/ld-musl-x86_64.so.1".ljust(len(LOADER), b"\0")),
            "another C library: its loader is",
        ),
        (lambda data: data.replace(b"GLIBC_2.34", b"GLIBC_2.99"), "needs glibc 2.99, and the guest has 2.36"),
        (lambda data: data[:16] + b"\1\0" + data[18:], "is no program but ET_REL"),
        (lambda data: b"#!/bin/sh\n", "is a script"),
        (lambda data: b"", "is not a program of Linux"),
        (lambda data: b"MZ" + data, "is not a program of Linux"),
    ],
)
def test_a_program_that_the_guest_cannot_run_is_one_sentence(tmp_path: Path, content: object, said: str) -> None:
    assert callable(content)
    program = build(tmp_path)
    program.write_bytes(content(program.read_bytes()))
    with pytest.raises(Failure, match=said) as caught:
        own_program.folder(OwnProgram(str(program)))
    assert caught.value.outcome is Outcome.BAD_INPUT
    assert caught.value.cure


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="There is no program"):
        own_program.folder(OwnProgram(str(tmp_path / "gone")))
