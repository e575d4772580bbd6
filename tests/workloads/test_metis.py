# SPDX-License-Identifier: BSD-3-Clause
"""metis on this host: the index is that of the text at any number of threads, and a damaged text shows."""

import shutil
from pathlib import Path

import pytest
from host_run import compile_program, host_cores, run_job

from common.paths import REPOSITORY


@pytest.fixture(scope="session")
def metis(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_program(REPOSITORY / "workloads" / "metis" / "src" / "metis", tmp_path_factory.mktemp("metis") / "metis")


def test_the_index_is_the_same_at_any_number_of_threads(metis: Path, tmp_path: Path) -> None:
    details = set()
    # The list of cores may name one twice: then more threads merge their findings than this host has processors.
    for cores in ([host_cores(1)[0]], host_cores(2), host_cores(1) * 5):
        for tasks in (1, 16):
            ending = run_job([metis], f"metis:4k:text_kib=512,tasks={tasks}", cores, tmp_path)
            assert ending.status == 0, ending.errors
            result = ending.result
            assert result["checked"] is True, result["detail"]
            assert sum(result["per_core"]) == result["units"]
            assert result["cores"] == cores
            details.add(result["detail"])
    assert len(details) == 1


def test_the_text_has_as_many_words_as_the_papers(metis: Path, tmp_path: Path) -> None:
    result = run_job([metis], "metis:4k:text_kib=2048", host_cores(2), tmp_path).result
    assert result["detail"].startswith(f"the index has {26 * 13 * 13} words at {2048 * 1024 // 4} places, each once")


def test_a_bucket_holds_any_number_of_words(tmp_path: Path) -> None:
    source = REPOSITORY / "workloads" / "metis" / "src" / "metis"
    large = shutil.copytree(source, tmp_path / "metis")
    header = (large / "metis.h").read_text()
    wanted = "#define WORDS_OF_A_BUCKET 10\n"
    assert wanted in header
    (large / "metis.h").write_text(header.replace(wanted, "#define WORDS_OF_A_BUCKET 2000\n"))
    program = compile_program(large, tmp_path / "program")
    result = run_job([program], "metis:4k:text_kib=1024,tasks=1", host_cores(2), tmp_path).result
    assert result["checked"] is True, result["detail"]


def test_each_pass_makes_the_index(metis: Path, tmp_path: Path) -> None:
    for cores in (host_cores(1), host_cores(2)):
        one = run_job([metis], "metis:4k:text_kib=512", cores, tmp_path).result
        three = run_job([metis], "metis:4k:text_kib=512,passes=3", cores, tmp_path).result
        assert three["checked"] is True, three["detail"]
        assert three["units"] == 3 * one["units"]


def test_reduce_alone_makes_the_same_index(metis: Path, tmp_path: Path) -> None:
    for cores in (host_cores(1), host_cores(1) * 5):
        whole, alone = (
            run_job([metis], f"metis:4k:text_kib=512,tasks=4,region={region}", cores, tmp_path).result
            for region in ("job", "reduce")
        )
        assert alone["checked"] is True and alone["detail"] == whole["detail"]
        assert alone["map_cycles"] == 0 < whole["map_cycles"]
    damaged = run_job([metis], "metis:4k:text_kib=256,region=reduce,fault=flip-byte", host_cores(2), tmp_path).result
    assert damaged["checked"] is False


def test_a_damaged_text_is_a_wrong_result(metis: Path, tmp_path: Path) -> None:
    ending = run_job([metis], "metis:4k:text_kib=256,fault=flip-byte", host_cores(2), tmp_path)
    assert ending.status == 0 and ending.result["checked"] is False


def test_a_text_that_cannot_be_is_refused(metis: Path, tmp_path: Path) -> None:
    ending = run_job(["env", "P_TEXT_KIB=100", metis], "metis:4k", host_cores(1), tmp_path)
    assert ending.status == 1 and "P_TEXT_KIB is not a multiple of 32" in ending.errors
