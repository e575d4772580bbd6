# SPDX-License-Identifier: BSD-3-Clause
"""memcached's load generator against a server of the test's own, and gmake with this host's compiler."""

import os
import shutil
import socket
import struct
import subprocess
import threading
from contextlib import closing
from pathlib import Path

import pytest
from host_run import Ending, compile_program, host_cores, run_job

from common.paths import REPOSITORY

WORKLOADS = REPOSITORY / "workloads"
REQUESTS, WARMUP = 43, 27


class Server:
    """Speaks as much of memcached's UDP protocol as the client needs, and errs where it is told to."""

    def __init__(self, drop: int = 0, twice: int = 0, answer: bytes = b"END\r\n") -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self._socket.settimeout(0.1)
        self.port = self._socket.getsockname()[1]
        self.drop, self.twice, self.answer = drop, twice, answer
        self.gets = self.misses = 0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def close(self) -> None:
        self._done.set()
        self._thread.join()
        self._socket.close()

    def _serve(self) -> None:
        while not self._done.is_set():
            try:
                data, peer = self._socket.recvfrom(2048)
            except TimeoutError:
                continue
            request, datagram, datagrams, reserved = struct.unpack(">4H", data[:8])
            assert (datagram, datagrams, reserved) == (0, 1, 0)
            if data[8:] == b"stats\r\n":
                text = f"STAT get_hits 0\r\nSTAT get_misses {self.misses}\r\nEND\r\n".encode()
                middle = len(text) // 2  # in two datagrams, the second one first
                self._reply(peer, request, 1, 2, text[middle:])
                self._reply(peer, request, 0, 2, text[:middle])
                continue
            assert data[8:].startswith(b"get ") and data.endswith(b"\r\n")
            assert len(data) == 26  # with 42 bytes of other headers a frame of 68
            self.gets += 1
            if self.drop and self.gets % self.drop == 0:
                continue
            self.misses += 1
            for _ in range(2 if self.twice and self.gets % self.twice == 0 else 1):
                self._reply(peer, request, 0, 1, self.answer)

    def _reply(self, peer: tuple[str, int], request: int, datagram: int, datagrams: int, text: bytes) -> None:
        self._socket.sendto(struct.pack(">4H", request, datagram, datagrams, 0) + text, peer)


@pytest.fixture(scope="session")
def client(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_program(WORKLOADS / "memcached" / "src" / "client.c", tmp_path_factory.mktemp("memcached") / "client")


def ask(client: Path, server: Server, folder: Path, more: str = "") -> Ending:
    text = f"memcached:shared:requests={REQUESTS},warmup={WARMUP},batch=5{more}"
    return run_job(["env", f"MEMCACHED_PORT={server.port}", client], text, host_cores(2), folder)


def test_client_counts_every_reply(client: Path, tmp_path: Path) -> None:
    with closing(Server()) as server:
        ending = ask(client, server, tmp_path)
        assert ending.status == 0, ending.errors
        assert ending.result["checked"] is True, ending.result
        assert ending.result["per_core"] == [REQUESTS] * len(host_cores(2))
        assert server.gets == len(host_cores(2)) * (1 + WARMUP + REQUESTS)


def test_client_sends_dropped_requests_again_and_ignores_second_replies(client: Path, tmp_path: Path) -> None:
    with closing(Server(drop=17, twice=7)) as server:
        ending = ask(client, server, tmp_path)
        assert ending.result["checked"] is True, ending.result
        assert ending.result["dropped"] > 0
        assert server.gets > len(host_cores(2)) * (1 + WARMUP + REQUESTS)


def test_client_that_loses_a_reply_shows(client: Path, tmp_path: Path) -> None:
    with closing(Server()) as server:
        ending = ask(client, server, tmp_path, ",fault=drop-reply")
        assert ending.status == 0 and ending.result["checked"] is False
        assert ending.result["dropped"] == 0  # nobody asked again


@pytest.mark.parametrize("answer", [b"END\n", b"ERROR\r\n", b"VALUE x 0 1\r\n1\r\nEND\r\n"])
def test_client_takes_no_other_reply_for_a_miss(client: Path, tmp_path: Path, answer: bytes) -> None:
    with closing(Server(answer=answer)) as server:
        assert ask(client, server, tmp_path).result["checked"] is False


def test_memcached_itself(client: Path, tmp_path: Path) -> None:
    if not shutil.which("memcached"):
        pytest.skip("memcached is not installed on this host")
    for variant in ("per-core", "shared"):
        path = f"PATH={client.parent}:{os.environ['PATH']}"
        run = WORKLOADS / "memcached" / "guest" / "run"
        ending = run_job(["env", path, "sh", run], f"memcached:{variant}:requests=40", host_cores(2), tmp_path)
        assert ending.status == 0 and ending.result["checked"] is True, ending


@pytest.fixture(scope="session")
def gmake_programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gmake")
    for name in ("generate", "build"):
        compile_program(WORKLOADS / "gmake" / "src" / f"{name}.c", folder / name)
    return folder


def build(programs: Path, folder: Path, more: str = "") -> Ending:
    path = f"PATH={programs}:{os.environ['PATH']}"
    text = f"gmake:gcc:objects=5,functions=2{more}"
    return run_job(["env", path, "sh", WORKLOADS / "gmake" / "guest" / "run"], text, host_cores(2), folder)


def test_gmake_builds_what_it_generated(gmake_programs: Path, tmp_path: Path) -> None:
    ending = build(gmake_programs, tmp_path)
    assert ending.status == 0, ending.errors
    assert ending.result["checked"] is True and ending.result["units"] == 5
    assert sorted(str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*.o")) == [
        "0000/all.o",
        *(f"0000/unit-{number:04}.o" for number in range(4)),
        "main.o",
    ]


def test_gmake_starts_a_make_for_each_folder(gmake_programs: Path, tmp_path: Path) -> None:
    assert run_job([gmake_programs / "generate"], "gmake:objects=18", host_cores(1), tmp_path).status == 0
    said = subprocess.run(["make", "-n", "CC=cc", "out/program"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert [line.split()[-1] for line in said.splitlines() if line.startswith("make -f")] == [
        f"src/{number:04}/Makefile" for number in range(3)
    ]
    assert len([line for line in said.splitlines() if " -c " in line and "unit-" in line]) == 17
    assert said.rstrip().splitlines()[-1] == "cc -o out/program out/main.o out/0000/all.o out/0001/all.o out/0002/all.o"


def test_gmake_sees_a_damaged_source(gmake_programs: Path, tmp_path: Path) -> None:
    ending = build(gmake_programs, tmp_path, ",fault=flip-byte")
    assert ending.status == 0 and ending.result["checked"] is False


def test_gmake_sees_a_wrong_object(gmake_programs: Path, tmp_path: Path) -> None:
    """`make` stands for one that corrupts an object in the measured build."""
    wrong = tmp_path / "bin"
    wrong.mkdir()
    for name in ("generate", "build"):
        (wrong / name).symlink_to(gmake_programs / name)
    fake = wrong / "make"
    fake.write_text(f'#!/bin/sh\n{shutil.which("make")} "$@" && case "$*" in *-j*program) echo >> out/main.o;; esac\n')
    fake.chmod(0o755)
    (tmp_path / "work").mkdir()
    ending = build(wrong, tmp_path / "work")
    assert ending.result["checked"] is False


def test_gmake_source_is_the_same_every_time(gmake_programs: Path, tmp_path: Path) -> None:
    trees = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        ending = run_job([gmake_programs / "generate"], "gmake:objects=7", host_cores(1), tmp_path / name)
        assert ending.status == 0, ending.errors
        files = sorted(path for path in (tmp_path / name).rglob("*") if path.is_file())
        trees.append([(path.relative_to(tmp_path / name), path.read_bytes()) for path in files])
    assert trees[0] == trees[1]
