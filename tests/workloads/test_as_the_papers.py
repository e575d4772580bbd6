# SPDX-License-Identifier: BSD-3-Clause
"""The library that is preloaded into Apache: an epoll of a listening socket is ready at once, others are the kernel's; a
connection cannot be shut down for writing alone, so that Apache closes it."""

import subprocess
import sys
from pathlib import Path

import pytest
from host_run import compile_program

from common.paths import REPOSITORY

_POLLS = """
import select, socket
listener = socket.create_server(("127.0.0.1", 0))
of_listener, of_pair = select.epoll(), select.epoll()
one, other = socket.socketpair()
of_listener.register(listener, select.EPOLLIN)
of_pair.register(one, select.EPOLLIN)
nothing = of_pair.poll(0.01)
other.send(b"x")
accepts, talks = (listener.fileno(), select.EPOLLIN), (one.fileno(), select.EPOLLIN)
print(of_listener.poll(0.01) == [accepts], nothing, of_pair.poll(0.01) == [talks])
of_listener.unregister(listener)
of_listener.register(one, select.EPOLLIN)
print(of_listener.poll(0.01) == [talks])
"""
_MIXES = """
import select, socket
epoll = select.epoll()
epoll.register(socket.create_server(("127.0.0.1", 0)), select.EPOLLIN)
epoll.register(socket.socketpair()[0], select.EPOLLIN)
"""
_SHUTS_DOWN = """
import socket
one, other = socket.socketpair()
try:
    one.shutdown(socket.SHUT_WR)
except OSError as error:
    print(error.strerror)
other.send(b"x")
one.send(b"y")
print(one.recv(1), other.recv(1))
one.shutdown(socket.SHUT_RDWR)
print(other.recv(1))
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = REPOSITORY / "workloads" / "apache" / "src" / "as_the_papers.so"
    return compile_program(source, tmp_path_factory.mktemp("apache") / "as_the_papers.so")


def _python(text: str, library: Path | None) -> subprocess.CompletedProcess[str]:
    environment = {"LD_PRELOAD": str(library)} if library else {}
    return subprocess.run([sys.executable, "-c", text], check=False, capture_output=True, text=True, env=environment)


def test_only_a_listening_socket_is_ready_at_once(library: Path) -> None:
    done = _python(_POLLS, library)
    assert done.stdout == "True [] True\nTrue\n", done.stderr
    assert _python(_POLLS, None).stdout == "False [] True\nTrue\n"


def test_a_listening_socket_beside_another_ends_the_process(library: Path) -> None:
    done = _python(_MIXES, library)
    assert done.returncode < 0
    assert "an epoll has a listening socket and something else" in done.stderr


def test_a_connection_is_not_shut_down_for_writing_alone(library: Path) -> None:
    done = _python(_SHUTS_DOWN, library)
    assert done.stdout == "Transport endpoint is not connected\nb'x' b'y'\nb''\n", done.stderr
