# SPDX-License-Identifier: BSD-3-Clause
"""What counts as another build of the fast engine."""

from pathlib import Path

import pytest

from harness.build.fast_engine import FastBuild
from harness.run.engines import base, fast


def test_what_a_guest_executes_before_its_kernel_is_a_part_of_the_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = [tmp_path / name for name in ("qemu", "model", "first", "second")]
    for folder in folders:
        folder.mkdir()
    made = FastBuild(*folders[:2])
    for file in (made.binary, made.library, made.card):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"built")
    monkeypatch.setattr(FastBuild, "qemu_version", "1:7.2", raising=False)
    monkeypatch.setattr(fast, "build", lambda: made)
    monkeypatch.setattr(base, "_prepared", {})
    monkeypatch.setattr(fast, "_FIRMWARE", tuple(map(str, folders[2:])))
    digests = [fast.FastEngine().prepare().digest]
    for content in (b"one", b"another"):
        (folders[3] / "bios-256k.bin").write_bytes(content)
        digests.append(fast.FastEngine().prepare().digest)
    (folders[2] / "vgabios.bin").write_bytes(b"nobody executes it")
    assert len(set(digests)) == 3
    assert fast.FastEngine().prepare().digest == digests[-1]
