# SPDX-License-Identifier: BSD-3-Clause
"""Kernel sources: what identifies a tree, and a download that is checked."""

import functools
import hashlib
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from common.outcome import Failure
from harness.build import source_trees


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOSBENCH_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A web server of the files in a folder: its address and the folder."""
    folder = tmp_path / "pub"
    folder.mkdir()
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as made:
        threading.Thread(target=made.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{made.server_address[1]}", folder
        made.shutdown()


def test_the_digest_is_of_contents_without_git(tmp_path: Path) -> None:
    trees = []
    for name in ("one", "two"):
        tree = tmp_path / name
        (tree / "fs").mkdir(parents=True)
        (tree / "fs/stat.c").write_text("int stat;\n")
        (tree / "link").symlink_to("fs")
        (tree / ".git").mkdir()
        (tree / ".git/HEAD").write_text(name)
        trees.append(tree)
    first, second = map(source_trees.digest, trees)
    assert first == second
    (trees[1] / "fs/stat.c").write_text("int tats;\n")
    assert source_trees.digest(trees[1]) != first
    assert source_trees.digest(trees[0]) == first


def test_a_download_is_checked(server: tuple[str, Path]) -> None:
    address, folder = server
    (folder / "linux.tar.xz").write_bytes(b"a kernel")
    digest = hashlib.sha256(b"a kernel").hexdigest()
    (folder / "sums").write_text(f"{'0' * 64}  other.tar.xz\n{digest}  linux.tar.xz\n")
    arguments = ("linux", f"{address}/linux.tar.xz", f"{address}/sums", "Fetch it.")
    assert source_trees.download(*arguments).read_bytes() == b"a kernel"
    (folder / "linux.tar.xz").unlink()
    assert source_trees.download(*arguments).read_bytes() == b"a kernel", "fetched once"


@pytest.mark.parametrize(("sums", "words"), [("f" * 64 + "  linux.tar.xz\n", "says ffff"), ("", "no entry")])
def test_a_wrong_download_is_refused(server: tuple[str, Path], tmp_path: Path, sums: str, words: str) -> None:
    address, folder = server
    (folder / "linux.tar.xz").write_bytes(b"another kernel")
    (folder / "sums").write_text(sums)
    with pytest.raises(Failure, match=words):
        source_trees.download("linux", f"{address}/linux.tar.xz", f"{address}/sums", "Fetch it.")
    assert not [path for path in (tmp_path / "cache/sources").iterdir() if path.is_dir()]
