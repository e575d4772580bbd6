# SPDX-License-Identifier: BSD-3-Clause
"""Exim's load generator against a mail server of the test's own, which loses, doubles and damages messages when told to."""

import socket
import threading
from contextlib import closing
from pathlib import Path

import pytest
from host_run import Ending, compile_program, host_cores, run_job
from tcp_server import TcpServer

from common.paths import REPOSITORY

MESSAGES, WARMUP, CONNECTIONS = 10, 2, 2
ALL = WARMUP + CONNECTIONS * MESSAGES


class Server(TcpServer):
    """Speaks SMTP, writes mail files and a log as Exim does. ``fault`` names what it does to the fourth message.

    ``late_log`` are seconds after which a message is logged as completed.
    """

    def __init__(self, folder: Path, fault: str = "", late_log: float = 0.0) -> None:
        self._folder, self._fault, self._late = folder, fault, late_log
        (folder / "mail").mkdir()
        (folder / "log").mkdir()
        self.connections = self.messages = 0
        self._log("exim daemon started: pid=1")
        super().__init__()

    def _log(self, text: str) -> None:
        with open(self._folder / "log" / "mainlog", "a") as log:
            log.write(f"2024-01-01 00:00:00 {text}\n")

    def _talk(self, connection: socket.socket) -> None:
        self.connections += 1
        user, body = "", list[str]()
        with connection, connection.makefile("r", newline="\r\n") as lines:
            connection.sendall(b"220 ready\r\n")
            in_data = False
            for line in (raw.removesuffix("\r\n") for raw in lines):
                if in_data:
                    if line != ".":
                        body.append(line)
                        continue
                    in_data = False
                    self.messages += 1
                    if self._fault == "break" and self.messages == 4:
                        self._fault = ""
                        return
                    connection.sendall(b"250 OK\r\n")
                    self._deliver(user, [text for text in body if text])
                elif line == "DATA":
                    in_data, body = True, []
                    connection.sendall(b"354 go on\r\n")
                elif line == "QUIT":
                    connection.sendall(b"221 bye\r\n")
                    return
                else:
                    if line.startswith("RCPT TO:<"):
                        user = line.removeprefix("RCPT TO:<").partition("@")[0]
                    connection.sendall(b"250 OK\r\n")

    def _deliver(self, user: str, text: list[str]) -> None:
        self._log("1 <= sender@mosbench")
        assert all(len(line) + 1 == 20 for line in text)
        fault = self._fault if self.messages == 4 else ""
        if fault == "damage":
            text = [line.replace("sent", "lost") for line in text]
        if fault != "lose":
            with open(self._folder / "mail" / user, "a") as mail:
                for _ in range(2 if fault == "double" else 1):
                    mail.write("From sender@mosbench\nReceived: here\n\n" + "\n".join(text) + "\n\n")
        self._log(f"1 => {user} T=local_delivery")
        if fault == "panic":
            (self._folder / "log" / "paniclog").touch()
        if fault == "complain":
            self._log("1 == deferred")
        timer = threading.Timer(self._late, self._log, ["1 Completed"])
        timer.start()
        self._threads.append(timer)
        if not self._late:
            timer.join()


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_program(REPOSITORY / "workloads" / "exim" / "src" / "client.c", tmp_path_factory.mktemp("exim") / "client")


def send(client: Path, server: Server, folder: Path) -> Ending:
    text = f"exim:single:connections={CONNECTIONS},warmup={WARMUP}"
    return run_job(["env", f"EXIM_PORT={server.port}", client], text, host_cores(1), folder)


def test_every_message_is_looked_for_in_its_mail_file(client: Path, tmp_path: Path) -> None:
    with closing(Server(tmp_path)) as server:
        ending = send(client, server, tmp_path)
        assert ending.status == 0, ending.errors
        assert ending.result["checked"] is True, ending.result
        assert ending.result["per_core"] == [CONNECTIONS * MESSAGES]
        assert server.messages == ALL and server.connections == 1 + 1 + CONNECTIONS


def test_a_log_that_comes_late_is_waited_for(client: Path, tmp_path: Path) -> None:
    with closing(Server(tmp_path, late_log=0.3)) as server:
        assert send(client, server, tmp_path).result["checked"] is True


@pytest.mark.parametrize("fault", ["lose", "double", "damage", "panic", "complain"])
def test_what_goes_wrong_is_a_wrong_result(client: Path, tmp_path: Path, fault: str) -> None:
    with closing(Server(tmp_path, fault)) as server:
        ending = send(client, server, tmp_path)
        assert ending.status == 0, ending.errors
        assert ending.result["checked"] is False, ending.result


def test_a_broken_connection_is_counted_and_its_messages_sent_in_the_next(client: Path, tmp_path: Path) -> None:
    with closing(Server(tmp_path, "break")) as server:
        ending = send(client, server, tmp_path)
        assert ending.result["checked"] is True, ending.result
        assert ending.result["dropped"] == 1 and server.connections == 1 + 1 + CONNECTIONS + 1


def test_all_clients_send_as_long_as_the_region_lasts(client: Path, tmp_path: Path) -> None:
    """Two clients: the region has the work of both, and neither sends a message more than it takes to see its end."""
    with closing(Server(tmp_path)) as server:
        text = f"exim:single:connections={CONNECTIONS},warmup={WARMUP},clients=2"
        ending = run_job(["env", f"EXIM_PORT={server.port}", client], text, host_cores(1), tmp_path)
        assert ending.result["checked"] is True, ending.result
        assert ending.result["units"] == 2 * CONNECTIONS * MESSAGES
        assert 2 * ALL <= server.messages <= 2 * ALL + 1


def test_a_connection_may_have_fewer_messages(client: Path, tmp_path: Path) -> None:
    with closing(Server(tmp_path)) as server:
        text = f"exim:single:connections={CONNECTIONS},messages=2,warmup=2"
        ending = run_job(["env", f"EXIM_PORT={server.port}", client], text, host_cores(1), tmp_path)
        assert ending.result["checked"] is True, ending.result
        assert ending.result["units"] == CONNECTIONS * 2
        assert server.connections == 1 + 1 + CONNECTIONS
