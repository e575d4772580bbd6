# SPDX-License-Identifier: BSD-3-Clause
"""The stress workload on this host: every variant is in the program, and those that need no privilege end well."""

from pathlib import Path

import pytest
from host_run import compile_program, host_cores, run_job

from common.paths import REPOSITORY
from harness.spec import workload

SOURCES = REPOSITORY / "workloads" / "stress" / "src" / "stress"


@pytest.fixture(scope="module")
def stress(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_program(SOURCES, tmp_path_factory.mktemp("stress") / "stress")


@pytest.mark.parametrize("variant", ["files", "seeks", "sockets", "connections", "sleepers", "lookups", "pages"])
def test_variant_that_needs_no_privilege(stress: Path, tmp_path: Path, variant: str) -> None:
    # Fewer iterations than it takes to drop the host's caches, which only root may.
    ended = run_job([stress], f"stress:{variant}:iterations=53", host_cores(2), tmp_path)
    assert ended.status == 0, ended.errors
    assert ended.result["checked"] is True
    assert ended.result["units"] >= 2 * 53


def test_every_variant_has_a_source() -> None:
    text = (SOURCES / "main.c").read_text()
    for name in workload.load("stress").variants:
        assert f"&{name.replace('-', '_')}_stress" in text
