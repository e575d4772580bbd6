# SPDX-License-Identifier: BSD-3-Clause
"""Apache's load generator against a server of the test's own, and Apache itself where this host has it."""

import socket
from contextlib import closing
from pathlib import Path

import pytest
from host_run import Ending, compile_program, host_cores, run_job
from tcp_server import TcpServer

from common.paths import REPOSITORY

APACHE = REPOSITORY / "workloads" / "apache"
FILE = APACHE / "guest" / "htdocs" / "file.txt"
REQUESTS, WARMUP = 23, 7


class Server(TcpServer):
    """Replies to each connection with ``body`` and closes it; ``drop`` makes it close every so many without a reply."""

    def __init__(self, body: bytes, drop: int = 0, status: bytes = b"200 OK") -> None:
        self.reply = b"HTTP/1.1 " + status + b"\r\nContent-Length: %d\r\n\r\n" % len(body) + body
        self.drop = drop
        self.connections = 0
        super().__init__()

    def _talk(self, connection: socket.socket) -> None:
        with connection:
            asked = connection.recv(2048)
            assert asked == b"GET /file.txt HTTP/1.1\r\nHost: mosbench\r\n\r\n"
            self.connections += 1
            if not self.drop or self.connections % self.drop:
                connection.sendall(self.reply)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_program(APACHE / "src" / "client.c", tmp_path_factory.mktemp("apache") / "client")


def ask(client: Path, server: Server, folder: Path) -> Ending:
    # instance-per-core on one core: one port, and no processes to be pinned.
    (folder / "apache-errors.log").write_text("[x] [mpm_worker:notice] [pid 1] started\n")
    text = f"apache:instance-per-core:requests={REQUESTS},warmup={WARMUP},connections=2"
    command: list[str | Path] = ["env", f"APACHE_FIRST_PORT={server.port}", f"APACHE_REFERENCE={FILE}", client]
    return run_job(command, text, host_cores(1), folder)


def test_the_file_has_the_paper_s_size() -> None:
    assert len(FILE.read_bytes()) == 300


def test_every_body_is_compared(client: Path, tmp_path: Path) -> None:
    with closing(Server(FILE.read_bytes())) as server:
        ending = ask(client, server, tmp_path)
        assert ending.status == 0, ending.errors
        assert ending.result["checked"] is True, ending.result
        assert ending.result["per_core"] == [REQUESTS]
        assert server.connections == 1 + WARMUP + REQUESTS


def test_dropped_connections_are_counted_and_asked_again(client: Path, tmp_path: Path) -> None:
    with closing(Server(FILE.read_bytes(), drop=10)) as server:
        ending = ask(client, server, tmp_path)
        assert ending.result["checked"] is True, ending.result
        assert ending.result["dropped"] == server.connections // 10 - (1 + WARMUP) // 10


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (FILE.read_bytes().replace(b"300", b"301"), b"200 OK"),
        (FILE.read_bytes()[:-1], b"200 OK"),
        (FILE.read_bytes() + b"\n", b"200 OK"),
        (FILE.read_bytes(), b"404 Not Found"),
    ],
)
def test_another_reply_is_a_wrong_result(client: Path, tmp_path: Path, body: bytes, status: bytes) -> None:
    with closing(Server(body, status=status)) as server:
        assert ask(client, server, tmp_path).result["checked"] is False


def test_an_error_in_the_log_is_a_wrong_result(client: Path, tmp_path: Path) -> None:
    (tmp_path / "apache-errors.log").write_text("")
    with closing(Server(FILE.read_bytes())) as server:
        text = f"apache:instance-per-core:requests={REQUESTS},warmup={WARMUP}"
        (tmp_path / "apache-errors.log").write_text("[x] [core:error] [pid 1] no more threads\n")
        command: list[str | Path] = ["env", f"APACHE_FIRST_PORT={server.port}", f"APACHE_REFERENCE={FILE}", client]
        ending = run_job(command, text, host_cores(1), tmp_path)
    assert ending.result["checked"] is False and "no more threads" in ending.errors
