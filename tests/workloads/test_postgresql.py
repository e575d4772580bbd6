# SPDX-License-Identifier: BSD-3-Clause
"""PostgreSQL's load generator against a server of the test's own, which speaks as much of the protocol as it needs."""

import ctypes
import mmap
import os
import re
import signal
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from host_run import Ending, compile_program, host_cores, run_job
from tcp_server import TcpServer

from common.paths import REPOSITORY

BATCHES, WARMUP, BATCH, ROWS = 3, 10, 40, 1000
SHARED_PAGES = 200
PR_SET_PTRACER, PR_SET_PTRACER_ANY = 0x59616D61, ctypes.c_ulong(-1)


def message(kind: bytes, content: bytes = b"") -> bytes:
    return kind + struct.pack(">I", 4 + len(content)) + content


def row(*columns: bytes) -> bytes:
    return message(b"D", struct.pack(">H", len(columns)) + b"".join(struct.pack(">i", len(one)) + one for one in columns))


def done(text: str) -> bytes:
    return message(b"C", text.encode() + b"\0")


READY = message(b"Z", b"I")


class Server(TcpServer):
    """A table in memory. ``fault``: lose-select, change-select (one reply), lose-update (one is not done), refuse (an error),
    row-twice (one row in the place of another)."""

    def __init__(self, process: "Process", fault: str = "") -> None:
        self._fault = fault
        self._process = process
        self._connections = 0
        self.table: dict[int, bytes] = {}
        self.selects = self.updates = self.transactions = 0
        self.commands: list[str] = []
        super().__init__(concurrent=True)

    def _talk(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rb") as stream:
            length, version = struct.unpack(">II", stream.read(8))
            assert version == 3 << 16
            assert b"user\0postgres\0" in stream.read(length - 8)
            # Whose memory the client looks at, and what ends with the connection: this thread. What it pins to its core and lets
            # have mapped as much: a process of its own.
            self._connections += 1
            whose = threading.get_native_id() if self._connections == 1 else self._process.number
            key = message(b"K", struct.pack(">II", whose, 0))
            connection.sendall(message(b"R", struct.pack(">I", 0)) + key + READY)
            while kind := stream.read(1):
                content = stream.read(struct.unpack(">I", stream.read(4))[0] - 4)
                if kind == b"Q":
                    connection.sendall(self._query(content.rstrip(b"\0").decode()))
                elif kind == b"d":
                    rows = (line.split(b"\t") for line in content.splitlines())
                    self.table |= {int(number): value for number, value in rows}
                elif kind == b"c":
                    connection.sendall(done(f"COPY {len(self.table)}") + READY)

    def _query(self, text: str) -> bytes:
        self.commands.append(text)
        if text == "COPY pairs TO STDOUT":
            table = b"".join(message(b"d", b"%d\t%s\n" % one) for one in self.table_as_copied())
            return message(b"H", b"\0\0\0") + table + message(b"c") + done("COPY") + READY
        if text.startswith("COPY"):
            return message(b"G", b"\0\0\0")
        self.transactions += "WHERE key=" in text
        replies = [self._statement(statement) for statement in text.split(";") if statement]
        return b"".join(replies) + READY

    def table_as_copied(self) -> list[tuple[int, bytes]]:
        """Rows in no order, as those of a table that was updated."""
        rows = list(self.table.items())
        if self._fault == "row-twice":
            rows[-1] = rows[0]
        return rows[::2] + rows[1::2]

    def _statement(self, text: str) -> bytes:
        if found := re.fullmatch(r"SELECT value FROM pairs WHERE key=(\d+)", text):
            self.selects += 1
            value = self.table[int(found[1])]
            if self.selects == 50 and self._fault == "lose-select":
                return message(b"T", b"\0\0") + done("SELECT 0")
            if self.selects == 50 and self._fault == "change-select":
                value = value[:-1] + (b"0" if value[-1:] != b"0" else b"1")
            return message(b"T", b"\0\0") + row(value) + done("SELECT 1")
        if found := re.fullmatch(r"UPDATE pairs SET value='(\w+)' WHERE key=(\d+)", text):
            self.updates += 1
            if not (self.updates == 2 and self._fault == "lose-update"):
                self.table[int(found[2])] = found[1].encode()
            return done("UPDATE 1")
        if found := re.fullmatch(r"DELETE FROM pairs WHERE key=(\d+)", text):
            del self.table[int(found[1])]
        if text == "CHECKPOINT" and self._fault == "refuse":
            return message(b"E", b"SERROR\0Mno room left\0\0")
        return done(text.split()[0])


class Process:
    """A process that shares memory with this one, and has touched none of it."""

    def __init__(self) -> None:
        self.memory = mmap.mmap(-1, SHARED_PAGES * mmap.PAGESIZE)
        for page in range(0, SHARED_PAGES, 3):
            self.memory[page * mmap.PAGESIZE] = 1
        self.number = os.fork()
        if self.number == 0:
            ctypes.CDLL(None).prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY)  # a host may let only parents look
            while True:
                signal.pause()

    def mapped(self) -> list[int]:
        """Pages of the memory that the process has mapped."""
        first = ctypes.addressof(ctypes.c_char.from_buffer(self.memory)) // mmap.PAGESIZE
        with open(f"/proc/{self.number}/pagemap", "rb") as pagemap:
            pagemap.seek(first * 8)
            words = struct.unpack(f"<{SHARED_PAGES}Q", pagemap.read(SHARED_PAGES * 8))
        return [page for page, word in enumerate(words) if word >> 63]

    def end(self) -> None:
        os.kill(self.number, signal.SIGKILL)
        os.waitpid(self.number, 0)


@pytest.fixture
def process() -> Iterator[Process]:
    made = Process()
    yield made
    made.end()


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = REPOSITORY / "workloads" / "postgresql" / "src" / "client.c"
    return compile_program(source, tmp_path_factory.mktemp("postgresql") / "client")


def ask(client: Path, server: Server, folder: Path, variant: str = "read-only", more: str = "", table: str = "guest") -> Ending:
    text = f"postgresql:{variant}:batches={BATCHES},warmup={WARMUP},batch={BATCH},rows={ROWS},table={table}{more}"
    return run_job(["env", f"PGPORT={server.port}", client], text, host_cores(1), folder)


def test_a_batch_of_reads_is_one_transaction_and_every_row_is_compared(client: Path, process: Process, tmp_path: Path) -> None:
    with closing(Server(process)) as server:
        ending = ask(client, server, tmp_path)
        assert ending.status == 0, ending.errors
        assert ending.result["checked"] is True, ending.result
        assert ending.result["per_core"] == [BATCHES * BATCH]
        assert (server.selects, server.updates) == (WARMUP + BATCHES * BATCH, 0)
        assert server.transactions == 1 + BATCHES
        assert len(server.table) == ROWS and len(set(server.table.values())) == ROWS


def test_the_server_s_process_has_mapped_what_the_table_needs(client: Path, process: Process, tmp_path: Path) -> None:
    assert process.mapped() == []
    with closing(Server(process)) as server:
        assert ask(client, server, tmp_path).status == 0
    assert process.mapped() == list(range(0, SHARED_PAGES, 3))


def test_an_update_is_a_transaction_of_its_own(client: Path, process: Process, tmp_path: Path) -> None:
    with closing(Server(process)) as server:
        ending = ask(client, server, tmp_path, "read-write")
        assert ending.result["checked"] is True, ending.result
        assert server.selects + server.updates == WARMUP + BATCHES * BATCH
        assert 0 < server.updates < server.selects / 8
        assert server.updates < server.transactions <= 2 * server.updates + 1 + BATCHES


@pytest.mark.parametrize(
    ("fault", "variant"),
    [("lose-select", "read-only"), ("change-select", "read-only"), ("lose-update", "read-write"), ("row-twice", "read-only")],
)
def test_what_goes_wrong_is_a_wrong_result(client: Path, process: Process, tmp_path: Path, fault: str, variant: str) -> None:
    with closing(Server(process, fault)) as server:
        ending = ask(client, server, tmp_path, variant)
        assert ending.status == 0, ending.errors
        assert ending.result["checked"] is False, ending.result


def test_a_lost_row_is_a_wrong_result(client: Path, process: Process, tmp_path: Path) -> None:
    class Forgiving(Server):
        def _statement(self, text: str) -> bytes:
            try:
                return super()._statement(text)
            except KeyError:
                return message(b"T", b"\0\0") + done("SELECT 0")

    with closing(Forgiving(process)) as server:
        ending = ask(client, server, tmp_path, more=",fault=lost-row")
        assert ending.result["checked"] is False and f"{ROWS - 1} of {ROWS} rows" in ending.result["detail"]


def test_a_table_of_the_disk_is_only_checked(client: Path, process: Process, tmp_path: Path) -> None:
    with closing(Server(process)) as made, closing(Server(process)) as server:
        assert ask(client, made, tmp_path).result["checked"] is True
        server.table = dict(made.table)
        ending = ask(client, server, tmp_path, table="disk")
        assert ending.result["checked"] is True, ending.result
        assert server.commands.count("SELECT pg_prewarm('pairs')") == 1
        assert not [one for one in server.commands if one.startswith(("CREATE", "COPY pairs FROM"))]


def test_a_refused_command_is_quoted(client: Path, process: Process, tmp_path: Path) -> None:
    with closing(Server(process, "refuse")) as server:
        ending = ask(client, server, tmp_path)
        assert ending.status == 1 and "no room left" in ending.errors
