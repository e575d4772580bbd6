# SPDX-License-Identifier: BSD-3-Clause
"""pedsort on this host: its indexes hold what the files do, by processes and by threads, and a lost word shows."""

from pathlib import Path

import pytest
from host_run import Ending, compile_program, host_cores, run_job

from common.paths import REPOSITORY

SMALL = "files=16,table_kib=512,db_entries=100"


@pytest.fixture(scope="session")
def pedsort(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_program(REPOSITORY / "workloads" / "psearchy" / "src" / "pedsort", tmp_path_factory.mktemp("psearchy") / "p")


def index(pedsort: Path, folder: Path, text: str, cores: list[int]) -> Ending:
    folder.mkdir()
    return run_job([pedsort], text, cores, folder)


@pytest.mark.parametrize("variant", ["processes", "threads"])
def test_the_index_has_every_place_of_every_word(pedsort: Path, tmp_path: Path, variant: str) -> None:
    sums = set()
    # The list of cores may name one twice: then there are more workers than processors.
    for number, cores in enumerate((host_cores(1), host_cores(2), host_cores(1) * 5)):
        ending = index(pedsort, tmp_path / str(number), f"psearchy:{variant}:{SMALL}", cores)
        assert ending.status == 0, ending.errors
        result = ending.result
        assert result["checked"] is True, result["detail"]
        assert sum(result["per_core"]) == result["units"]
        assert result["databases"] >= result["index_words"] / 100  # the limit of words in one holds
        assert not list((tmp_path / str(number)).rglob("run-*"))  # every run was merged
        sums.add(result["detail"].partition("sum ")[2])
    assert len(sums) == 1


def test_a_table_that_never_fills_gives_the_same_index(pedsort: Path, tmp_path: Path) -> None:
    small = index(pedsort, tmp_path / "small", f"psearchy:processes:{SMALL}", host_cores(1)).result
    large = index(pedsort, tmp_path / "large", "psearchy:processes:files=16", host_cores(1)).result
    assert small["detail"].partition("sum ")[2] == large["detail"].partition("sum ")[2]
    assert small["index_words"] == large["index_words"]


def test_words_of_an_index_grow_with_the_pieces_of_files(pedsort: Path, tmp_path: Path) -> None:
    least, more = (
        index(pedsort, tmp_path / words, f"psearchy:processes:{SMALL},piece_words={words}", host_cores(1)).result
        for words in ("20", "60")
    )
    assert least["checked"] is True and more["checked"] is True
    assert more["units"] == 3 * least["units"]


@pytest.mark.parametrize("variant", ["processes", "threads"])
def test_each_pass_makes_an_index(pedsort: Path, tmp_path: Path, variant: str) -> None:
    one = index(pedsort, tmp_path / "one", f"psearchy:{variant}:{SMALL}", host_cores(1)).result
    three = index(pedsort, tmp_path / "three", f"psearchy:{variant}:{SMALL},passes=3", host_cores(1)).result
    assert three["checked"] is True, three["detail"]
    assert [three[key] for key in ("units", "databases", "index_words")] == [
        3 * one[key] for key in ("units", "databases", "index_words")
    ]
    assert index(pedsort, tmp_path / "both", f"psearchy:{variant}:{SMALL},passes=2", host_cores(2)).result["checked"] is True


@pytest.mark.parametrize("variant", ["processes", "threads"])
def test_a_lost_word_is_a_wrong_result(pedsort: Path, tmp_path: Path, variant: str) -> None:
    ending = index(pedsort, tmp_path / "lost", f"psearchy:{variant}:{SMALL},fault=lost-word", host_cores(2))
    assert ending.status == 0 and ending.result["checked"] is False
