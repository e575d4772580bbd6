# SPDX-License-Identifier: BSD-3-Clause
"""Memory: what is left, and that a body cannot take more."""

import resource

import pytest

from common import memory


def test_what_is_left_is_less_than_there_is() -> None:
    assert 0 < memory.available() < resource.getpagesize() * 2**40


def test_a_body_gets_what_there_is_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    before = resource.getrlimit(resource.RLIMIT_DATA)
    with memory.no_more_than_there_is():
        assert len(bytearray(1 << 20)) == 1 << 20
    monkeypatch.setattr(memory, "available", lambda: 64 << 20)
    monkeypatch.setattr(memory, "_HOST", memory._PROCESS)  # which names no swap
    with memory.no_more_than_there_is(), pytest.raises(MemoryError):
        bytearray(1 << 30)
    assert resource.getrlimit(resource.RLIMIT_DATA) == before
    assert len(bytearray(128 << 20)) == 128 << 20
