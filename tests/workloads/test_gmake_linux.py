# SPDX-License-Identifier: BSD-3-Clause
"""gmake-linux: what its plan makes of a kernel tree of two files, and that what is packed is built the same elsewhere."""

import hashlib
import importlib.util
import subprocess
import tarfile
from pathlib import Path
from types import ModuleType

import pytest

from common.paths import REPOSITORY

PLAN = REPOSITORY / "workloads/gmake-linux/from-source/linux/tree/mosbench/plan.py"
_FIXDEP = "#!/bin/sh\necho reduced from $(cat $1 | wc -w) words\n"


@pytest.fixture(scope="module")
def plan() -> ModuleType:
    spec = importlib.util.spec_from_file_location("gmake_linux_plan", PLAN)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """As kbuild leaves it: sources, and beside each object how it was made."""
    folder = tmp_path / "tree"
    for name, text in (
        ("kernel/fork.c", '#include "common.h"\nint forks = NUMBER;\n'),
        ("kernel/time/timer.c", "#include <common.h>\nint timers = NUMBER + 1;\n"),
        ("include/common.h", "#define NUMBER 41\n"),
        ("include/generated/autoconf.h", ""),
        ("scripts/basic/fixdep", _FIXDEP),
        ("kernel/.entry.o.cmd", "cmd_kernel/entry.o := gcc -D__ASSEMBLY__ -c -o kernel/entry.o kernel/entry.S\n"),
    ):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (folder / "scripts/basic/fixdep").chmod(0o755)
    for name in ("kernel/fork", "kernel/time/timer"):
        place, _, short = name.rpartition("/")
        up = "../" * len(Path(place).parts)
        (folder / place / f".{short}.o.cmd").write_text(
            f"cmd_{name}.o := /cache/gcc -Wp,-MMD,{place}/.{short}.o.d -Iinclude -include include/generated/autoconf.h "
            f"-DKBUILD_MODFILE='\"{name}\"' -c -o {name}.o {name}.c  \n\nsource_{name}.o := {name}.c\n\n"
            f"deps_{name}.o := \\\n    $(wildcard include/config/SMP) \\\n"
            f"  {place}/{up}include/common.h \\\n  /usr/include/other.h \\\n\n"
        )
    (folder / "mosbench").mkdir()
    monkeypatch.chdir(folder)
    return folder


def test_an_object(plan: ModuleType, tree: Path) -> None:
    one = plan.read(Path("kernel/time/.timer.o.cmd"))
    assert (one.path, one.source) == (Path("kernel/time/timer.o"), Path("kernel/time/timer.c"))
    assert one.files == (Path("include/common.h"), Path("kernel/time/timer.c"))
    assert one.command.startswith("gcc -Wp,-MMD,$(O)/kernel/time/.timer.o.d -Iinclude ")
    assert one.command.endswith(" -c -o $(O)/kernel/time/timer.o kernel/time/timer.c")
    assert plan.read(Path("kernel/.entry.o.cmd")) is None  # not compiled from C
    assert tree.is_dir()


def test_what_is_packed_builds_the_same_elsewhere(plan: ModuleType, tree: Path, tmp_path: Path) -> None:
    plan.main(["kernel"])
    with tarfile.open(tree / "mosbench/linux.tar") as archive:
        assert {(member.uid, member.mtime) for member in archive} == {(0, 1704067200)}
        assert not any(".." in member.name for member in archive)
        archive.extractall(tmp_path / "guest", filter="data")
    guest, out = tmp_path / "guest", tmp_path / "out"
    order = (guest / "mosbench/order").read_text().split()
    assert sorted(order) == ["kernel/fork.o", "kernel/time/timer.o"]
    for name in order:
        folder = name.rpartition("/")[0]
        (out / folder).mkdir(parents=True, exist_ok=True)
        makefile = f"mosbench/{folder.replace('/', '+')}.mk"
        subprocess.run(["make", "-s", "-f", makefile, f"O={out}", f"OBJECTS={name}"], cwd=guest, check=True)
        assert (out / folder / "built-in.o").is_file()
        assert (out / folder / f".{Path(name).name}.cmd").read_text().startswith("reduced from")
    hashes = [f"{hashlib.sha256((out / name).read_bytes()).hexdigest()}  {name}" for name in order]
    assert (guest / "mosbench/reference").read_text().splitlines() == hashes
    assert (guest / "mosbench/compiler").read_text() == plan.compilers()
