# SPDX-License-Identifier: BSD-3-Clause
"""The image's recipe, the merging of packages into one tree, and the ext2 writer."""

import errno
import io
import os
import re
import shutil
import subprocess
import tarfile
import time
from pathlib import Path, PurePosixPath

import pytest

from common.outcome import Failure, Outcome, bad_input
from common.paths import REPOSITORY
from harness.build import ext2, image, image_packages
from harness.build.debian_archive import source_lines
from harness.build.ext2 import Entry
from harness.spec import workload

_IDENTITY = ext2.Identity(1704067200, "6d6f7362-656e-4368-8000-000000000048", "test")


def _path(text: str) -> PurePosixPath:
    return PurePosixPath(text)


# ---- recipe and packages ----


def test_a_workload_s_disk_has_its_own_packages_only() -> None:
    recipe = image.load_recipe()
    own = recipe.with_packages(workload.load("psearchy").packages)
    assert set(own.selection.packages) == {*recipe.selection.packages, "libdb5.3"}
    assert "libc6" in own.selection.packages
    assert not set(own.selection.without_packages) & set(own.selection.packages)
    assert own.with_packages(("libdb5.3",)) == own


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty cache, and disks with nothing but the hash of what they would be made from; a folder for workloads."""

    def write(recipe: image.Recipe, fill: image.Fill, form: image.Form, folder: Path) -> None:
        (folder / "image.json").write_text(f'{{"sha256": "{folder.name}"}}')

    monkeypatch.setenv("MOSBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(image, "_write", write)
    for name in ("micro", "stress"):
        shutil.copytree(REPOSITORY / "workloads" / name, tmp_path / name)
    return tmp_path


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("src/stress/files.c", "/* another byte */\n"),
        ("guest/run", "# another byte\n"),
        ("overlay/etc/stress.conf", "yes\n"),
        ("flags.txt", "-O3\n"),
        ("packages.txt", "libdb5.3\n"),
    ],
)
def test_a_change_of_one_workload_changes_its_own_disk_only(written: Path, file: str, text: str) -> None:
    def disks() -> tuple[image.Image, image.Image]:
        micro, stress = (image.build(workload.load(str(written / name))) for name in ("micro", "stress"))
        return micro, stress

    micro, stress = disks()
    assert micro.digest != stress.digest
    assert micro.boot_digest == stress.boot_digest
    path = written / "stress" / file
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a") as handle:
        handle.write(text)
    micro_after, stress_after = disks()
    assert micro_after == micro
    assert stress_after.digest != stress.digest
    assert stress_after.boot_digest == stress.boot_digest


def test_what_is_for_people_changes_no_disk(written: Path) -> None:
    before = image.build(workload.load(str(written / "micro")))
    (written / "micro" / "README.md").write_text("more words")
    assert image.build(workload.load(str(written / "micro"))) == before


def test_only_debian_s_own_suites_are_sources() -> None:
    targets = "\n".join(
        [
            "http://mirror/debian|bookworm|main|Debian|Packages",
            "http://mirror/debian|bookworm|main|Debian|DEP-11",
            "http://mirror/debian|bookworm|contrib|Debian|Packages",
            "http://mirror/debian|bookworm-updates|main|Debian|Packages",
            "http://mirror/security|bookworm-security|main|Debian|Packages",
            "http://mirror/debian|bookworm-backports|main|Debian Backports|Packages",
            "http://mirror/debian|trixie|main|Debian|Packages",
            "http://third/party|nodistro|main|. nodistro|Packages",
            "http://third/party|bookworm|main|Party|Packages",
        ]
    )
    lines = [re.sub(r" \[.*\]", "", line) for line in source_lines(targets, "bookworm", "main")]
    assert lines == [
        "deb http://mirror/debian bookworm main",
        "deb http://mirror/debian bookworm-updates main",
        "deb http://mirror/security bookworm-security main",
    ]
    assert source_lines("", "bookworm", "main") == []


def test_left_out() -> None:
    patterns = ["usr/share/doc/*", "usr/lib/gcc/*/lto1"]
    assert image_packages.left_out(_path("usr/share/doc/make/copyright"), patterns)
    assert image_packages.left_out(_path("usr/share/doc"), patterns)
    assert image_packages.left_out(_path("usr/lib/gcc/x86_64-linux-gnu/12/lto1"), patterns)
    assert not image_packages.left_out(_path("usr/share/documents"), patterns)


def _tar(members: list[tuple[tarfile.TarInfo, bytes]]) -> tarfile.TarFile:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as tar:
        for member, content in members:
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    data.seek(0)
    return tarfile.open(fileobj=data, mode="r|")


def _member(name: str, kind: bytes = tarfile.REGTYPE, mode: int = 0o644, link: str = "", gid: int = 0) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.mode, member.linkname, member.gid = kind, mode, link, gid
    return member


def test_packages_are_merged_into_usr(tmp_path: Path) -> None:
    tree: dict[PurePosixPath, Entry] = {_path("lib"): Entry.link("usr/lib")}
    members = [
        (_member("./", tarfile.DIRTYPE, 0o755), b""),
        (_member("./lib/", tarfile.DIRTYPE, 0o755), b""),
        (_member("./lib/libx.so.1"), b"library"),
        (_member("./usr/sbin/mailer", mode=0o4755, gid=8), b"setuid"),
        (_member("./usr/bin/other", tarfile.LNKTYPE, link="./usr/sbin/mailer"), b""),
        (_member("./usr/bin/link", tarfile.SYMTYPE, link="../sbin/mailer"), b""),
        (_member("./usr/share/doc/x"), b"text"),
    ]
    image_packages.add_tar(tree, _tar(members), tmp_path, ["usr/share/doc/*"])
    assert tree[_path("lib")].target == "usr/lib"
    library = tree[_path("usr/lib/libx.so.1")].content
    assert library is not None
    assert library.read_bytes() == b"library"
    mailer = tree[_path("usr/sbin/mailer")]
    assert (mailer.mode & 0o7777, mailer.uid, mailer.gid) == (0o4755, 0, 8)
    assert tree[_path("usr/bin/other")] == mailer
    assert tree[_path("usr/bin/link")].target == "../sbin/mailer"
    assert _path("usr/share/doc/x") not in tree


def test_a_tree_survives_the_cache(tmp_path: Path) -> None:
    (tmp_path / "contents").mkdir()
    content = tmp_path / "contents/0"
    content.write_text("x")
    tree = {_path("a"): Entry.folder(0o1777, 3, 4), _path("a/b"): Entry.file(content, 0o640), _path("a/c"): Entry.link("b")}
    image_packages.save_tree(tree, tmp_path)
    assert image_packages.load_tree(tmp_path) == tree


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "full"), bad_input("mke2fs said: No space left on device", "")])
def test_a_full_disk_is_its_own_outcome(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, error: Exception) -> None:
    def fail(recipe: image.Recipe, fill: image.Fill, form: image.Form, folder: Path) -> None:
        raise error

    monkeypatch.setenv("MOSBENCH_CACHE", str(tmp_path))
    monkeypatch.setattr(image, "_write", fail)
    with pytest.raises(Failure) as caught:
        image.build(workload.load("micro"))
    assert caught.value.outcome is Outcome.DISK_FULL


# ---- ext2 ----


@pytest.fixture
def tree(tmp_path: Path) -> dict[PurePosixPath, Entry]:
    big, small, empty = tmp_path / "big file", tmp_path / "small", tmp_path / "empty"
    # Past 12 direct blocks and into the double indirect ones (1024 pointers a block).
    big.write_bytes(bytes(range(251)) * 20000 + b"\0" * 65536)
    small.write_text("hello\n")
    empty.touch()
    tree = {
        _path("etc"): Entry.folder(),
        _path("etc/small"): Entry.file(small, 0o4755, 101, 102),
        _path("etc/empty"): Entry.file(empty),
        _path("etc/a name with spaces"): Entry.file(big, 0o600),
        _path("etc/link"): Entry.link("../tmp/target"),
        _path("tmp"): Entry.folder(0o1777),
        _path("dev"): Entry.folder(),
        _path("dev/null"): Entry.character_device(1, 3, 0o666),
    }
    for number in range(300):  # a folder of several blocks
        tree[_path(f"tmp/file-with-a-long-name-{number:04d}")] = Entry.file(small)
    return tree


def _debugfs(path: Path, command: str) -> str:
    tool = ext2._tool("debugfs")
    assert tool is not None
    return subprocess.run([tool, "-R", command, path], capture_output=True, text=True, check=True).stdout


def test_ext2_holds_the_tree(tree: dict[PurePosixPath, Entry], tmp_path: Path) -> None:
    path = tmp_path / "image"
    ext2.write(tree, path, _IDENTITY, 1)
    for name in ("etc/a name with spaces", "etc/small"):
        content = tree[_path(name)].content
        assert content is not None
        _debugfs(path, f'dump "/{name}" {tmp_path / "back"}')
        assert (tmp_path / "back").read_bytes() == content.read_bytes()
    small = _debugfs(path, "stat /etc/small")
    assert re.search(r"Type: regular\s+Mode:\s+04755", small)
    assert re.search(r"User:\s+101\s+Group:\s+102", small)
    assert 'Fast link dest: "../tmp/target"' in _debugfs(path, "stat /etc/link")
    assert re.search(r"Type: directory\s+Mode:\s+01777", _debugfs(path, "stat /tmp"))
    assert "Device major/minor number: 01:03" in _debugfs(path, "stat /dev/null")
    assert _debugfs(path, "ls -p /tmp").count("file-with-a-long-name-") == 300
    # Nothing that Linux 2.6.35 would not mount.
    features = re.search(r"Filesystem features:\s+(.*)", _debugfs(path, "stats"))
    assert features is not None
    assert set(features[1].split()) == {"filetype", "sparse_super", "large_file"}


def test_ext2_is_the_same_whenever_and_by_whomever(tree: dict[PurePosixPath, Entry], tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "deeper" / "second"
    second.parent.mkdir()
    ext2.write(tree, first, _IDENTITY, 1)
    for entry in tree.values():
        if entry.content:
            os.utime(entry.content, (time.time() - 12345, time.time() - 54321))
            entry.content.chmod(0o600)
    mask = os.umask(0o077)
    try:
        time.sleep(1.1)
        ext2.write(dict(reversed(tree.items())), second, _IDENTITY, 1)
    finally:
        os.umask(mask)
    assert first.read_bytes() == second.read_bytes()


def test_ext2_refuses_what_would_not_be_there(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="without a folder"):
        ext2.script({_path("a/b"): Entry.link("c")})
    with pytest.raises(Failure, match="quote"):
        ext2.script({_path('a"b'): Entry.folder()})
    gone = tmp_path / "gone"
    with pytest.raises((Failure, OSError)):
        ext2.write({_path("a"): Entry.file(gone)}, tmp_path / "image", _IDENTITY, 1)


def test_ext2_too_small_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    big = tmp_path / "big"
    big.write_bytes(os.urandom(4 << 20))
    monkeypatch.setattr(ext2, "size_mib", lambda tree, slack: 2)
    with pytest.raises(Failure, match="debugfs could not fill the image"):
        ext2.write({_path("big"): Entry.file(big)}, tmp_path / "image", _IDENTITY, 0)


def test_ext2_without_e2fsprogs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ext2, "_tool", lambda name: None)
    with pytest.raises(Failure, match="e2fsprogs"):
        ext2.write({}, tmp_path / "image", _IDENTITY, 1)
