# SPDX-License-Identifier: BSD-3-Clause
"""Debian's gdb on a guest: it stops where the region begins, breakpoints and single steps are told, the guest then ends well."""

import re
import shutil
import socket
import subprocess
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import Queue

import pytest

from harness.checks.verify.measuring import point as one_point
from harness.checks.verify.measuring import prepare_host
from harness.run.debugging import Debugged, debug
from harness.run.engines.gem5_binary import why_absent

POINT = "workload=micro:open-close:iterations=7,warmup=2 * machine=small-2x2 * cores=2"
_MINUTES = 20

COMMANDS = (
    "continue",  # to where the region begins
    "info threads",
    "break do_sys_openat2",
    "continue",
    "backtrace 2",
    r'printf "before %lx\n", $pc',
    "stepi",
    r'printf "after %lx\n", $pc',
    "stepi",
    r'printf "later %lx\n", $pc',
    "delete",
    "continue",
)


@pytest.mark.guest
def test_breakpoints_and_steps() -> None:
    look_at(POINT, COMMANDS)


@pytest.mark.gem5
def test_breakpoints_and_steps_in_gem5() -> None:
    if (why := why_absent()) is not None:
        pytest.skip(why)
    look_at(f"{POINT} * set.node_mib=256 * engine=gem5", COMMANDS[1:])  # it stands where the region begins when it says so


@pytest.mark.gem5
def test_reads_of_a_line_that_is_on_its_way_in_gem5() -> None:
    """Four cores take one lock in turn; at each stop of one of them it may be on its way between two others."""
    if (why := why_absent()) is not None:
        pytest.skip(why)
    looks = ("continue", r'printf "references %d\n", ((struct lockref *) $rdi)->count') * 20
    commands = ("break lockref_get_not_dead", *looks, "delete", "continue")
    said = run_with_gdb(
        "workload=micro:open-close:iterations=30,warmup=2 * machine=small-2x2 * set.node_mib=256 * engine=gem5", commands
    )
    counts = [int(found) for found in re.findall(r"^references (-?[0-9]+)$", said, re.MULTILINE)]
    assert len(counts) == 20, said
    assert all(1 <= count <= 100 for count in counts), said


@pytest.mark.guest
def test_debugger_comes_while_the_disk_works() -> None:
    """Each connection stops the guest, also where it waits for its disk, and each detaching lets it go on."""
    prepare_host()
    told: Queue[Debugged] = Queue()
    visits = 0
    with ThreadPoolExecutor(1) as pool:
        guest = pool.submit(debug, one_point(POINT), None, told.put)
        port = told.get(timeout=60 * _MINUTES).port
        try:
            while not guest.done():
                visits += visit(port, "$D#44")
                time.sleep(0.01)
        except BaseException:
            visit(port, "$k#6b")  # or nobody would end it
            raise
        guest.result()
    assert visits >= 20


def visit(port: int, farewell: str) -> bool:
    """Connect, ask why the guest stands, say ``farewell``; False where nobody listens (not yet, or the guest has ended)."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
            connection.sendall(b"+$?#3f")
            answer = b""
            while not re.search(rb"\$T[^#]*#..", answer):
                if not (more := connection.recv(4096)):
                    return False
                answer += more
            connection.sendall(b"+" + farewell.encode())
            return bool(connection.recv(4096))
    except (ConnectionRefusedError, ConnectionResetError, BrokenPipeError):
        return False


def look_at(point: str, commands: Sequence[str]) -> None:
    """Run ``point`` of two cores and gdb with ``commands`` on it, which see breakpoint and steps."""
    said = run_with_gdb(point, commands)
    assert len(re.findall(r"^[* ] +\d+ +Thread ", said, re.MULTILINE)) == 2, said
    assert "Breakpoint 1, do_sys_openat2" in said, said
    assert re.search(r"#1 .*do_sys_open|#1 .*__x64_sys_open", said), said
    before, after, later = (int(found, 16) for found in re.findall(r"^(?:before|after|later) ([0-9a-f]+)$", said, re.MULTILINE))
    assert before != after != later != before, said
    assert abs(after - before) < 16, said  # the next instruction, and not another function


def run_with_gdb(point: str, commands: Sequence[str]) -> str:
    """What gdb says with ``commands`` on the guest of ``point``, which comes to its end."""
    if shutil.which("gdb") is None:
        pytest.skip("gdb is not installed (Debian's package gdb)")
    prepare_host()
    told: Queue[Debugged] = Queue()
    with ThreadPoolExecutor(1) as pool:
        guest = pool.submit(debug, one_point(point), None, told.put)
        debugged = told.get(timeout=60 * _MINUTES)
        program, vmlinux, _, connect = debugged.command
        # Symbols take seconds to load: connected before that, gdb comes while the guest boots.
        first = ("set tcp connect-timeout 120", connect, f"file {vmlinux}")
        words = [program, "-batch", *(word for one in (*first, *commands) for word in ("-ex", one))]
        done = subprocess.run(words, capture_output=True, text=True, timeout=60 * _MINUTES, check=False)
        guest.result(timeout=60 * _MINUTES)  # the guest did its work, and said so
    return done.stdout
