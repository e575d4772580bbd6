# SPDX-License-Identifier: BSD-3-Clause
"""Valgrind's client requests are taken out of programs, and nothing else is."""

import subprocess
from pathlib import Path, PurePosixPath

import pytest

from harness.build.ext2 import Entry
from harness.build.valgrind_requests import take_out, without_requests

_ROTATIONS = bytes.fromhex("48c1c703 48c1c70d 48c1c73d 48c1c733")
_EXCHANGES = {"rbx": "4887db", "rcx": "4887c9", "rdx": "4887d2", "rdi": "4887ff"}
_NOP = bytes.fromhex("0f1f00")


@pytest.mark.parametrize("register", _EXCHANGES)
def test_the_exchange_of_a_request_becomes_a_nop(register: str) -> None:
    exchange = bytes.fromhex(_EXCHANGES[register])
    program = b"\x90\n" + _ROTATIONS + exchange + b"\n\xc3" + _ROTATIONS + exchange
    assert without_requests(program) == program.replace(exchange, _NOP)


@pytest.mark.parametrize("other", ["4887d8", "4887db", "488bdb"], ids=["two registers", "no rotations before it", "a move"])
def test_other_instructions_stay(other: str) -> None:
    rotations = b"" if other == "4887db" else _ROTATIONS
    program = b"\x90" * 8 + rotations + bytes.fromhex(other) + b"\xc3"
    assert without_requests(program) == program


def test_a_program_does_what_it_did(tmp_path: Path) -> None:
    source = tmp_path / "request.c"
    source.write_text(
        """
        #include <stdio.h>
        int main(void)
        {
            unsigned long rotated = 0x123456789abcdef0, kept = 42;
            __asm__ volatile("rolq $3, %%rdi; rolq $13, %%rdi; rolq $61, %%rdi; rolq $51, %%rdi; xchgq %%rbx, %%rbx"
                             : "+D"(rotated), "+b"(kept) : : "cc");
            return printf("%lx %lu", rotated, kept) < 0;
        }
        """
    )
    program = tmp_path / "request"
    subprocess.run(["gcc", "-O1", "-o", program, source], check=True)
    script = tmp_path / "script"
    script.write_bytes(b"#!/bin/sh\n" + _ROTATIONS + bytes.fromhex(_EXCHANGES["rbx"]))
    tree = {
        PurePosixPath("bin"): Entry.folder(),
        PurePosixPath("bin/request"): Entry.file(program, 0o755, 7, 8),
        PurePosixPath("bin/script"): Entry.file(script, 0o755),
        PurePosixPath("bin/true"): Entry.file(Path("/bin/true"), 0o755),
    }
    (tmp_path / "out").mkdir()
    changed = take_out(tree, tmp_path / "out")
    assert set(changed) == {PurePosixPath("bin/request")}
    entry = changed[PurePosixPath("bin/request")]
    assert (entry.mode, entry.uid, entry.gid) == (tree[PurePosixPath("bin/request")].mode, 7, 8)
    assert entry.content is not None
    assert entry.content.read_bytes() != program.read_bytes()
    entry.content.chmod(0o755)
    for one in (program, entry.content):
        assert subprocess.run([one], check=True, capture_output=True, text=True).stdout == "123456789abcdef0 42"
