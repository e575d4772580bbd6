# SPDX-License-Identifier: BSD-3-Clause
"""Where native code is built for tests and checks: not where another checkout does, nor at the same time."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from common.locks import is_held
from harness.build import native_checks
from harness.checks.verify import card_fuzz, protocol
from harness.cli import test as tests


def fuzz(folder: Path) -> object:
    return card_fuzz._built(folder / "log")


def search(folder: Path) -> object:
    return list(protocol._search([], folder))


def cxx(folder: Path) -> object:
    return tests._cxx()


@pytest.mark.parametrize(("module", "build"), [(card_fuzz, fuzz), (protocol, search), (tests, cxx)])
def test_a_checkout_builds_alone_and_in_a_folder_of_its_own(
    module: Any, build: Callable[[Path], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = []

    def scons(what: str, command: list[str | Path], *given: object, **options: object) -> None:
        (place,) = (Path(str(word).partition("=")[2]) for word in command if str(word).startswith("build_dir="))
        assert is_held(place)
        places.append(place)

    monkeypatch.setenv("MOSBENCH_CACHE", str(tmp_path))
    monkeypatch.setattr("harness.build.host_packages.require", lambda *names: None)
    monkeypatch.setattr(module, "_command" if module is tests else "run_logged", scons)
    build(tmp_path)
    assert not is_held(places[0])
    monkeypatch.setattr(native_checks, "REPOSITORY", tmp_path / "other")
    build(tmp_path)
    assert len(set(places)) == 2 and {place.parent for place in places} == {tmp_path / "scons"}
