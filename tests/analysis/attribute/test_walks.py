# SPDX-License-Identifier: BSD-3-Clause
"""Walks through the guest's memory that cannot be ended: they are counted and told, and the rest has its names all the same."""

import json
import shutil
from io import StringIO
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import toy as places
from rich.console import Console
from toy import Toy

from analysis.attribute.run_tables import write_run_tables
from analysis.report import page
from analysis.report.runs import Run
from analysis.report.series import load_runs
from analysis.report.tables import show

NOWHERE = places.DIRECT + (1 << 40)


def fresh(toy: Toy) -> Toy:
    """Another guest with the same kernel, to be damaged."""
    return Toy(toy.vmlinux)


def walks(damaged: Toy, folder: Path) -> dict[str, int]:
    """What the extraction gives up; the line that moves most must have its name whatever that is."""
    damaged.write_run(folder)
    abandoned = dict(write_run_tables(folder, damaged.vmlinux).abandoned_walks)
    types = {row["paddr"]: row["field"] for row in pq.read_table(folder / "memory-types.parquet").to_pylist()}
    assert types[damaged.lockref() // 64 * 64] == "dentry.d_lockref.lock_count"
    return abandoned


def test_a_whole_guest_has_none(toy: Toy, tmp_path: Path) -> None:
    assert walks(fresh(toy), tmp_path / "run") == {}


def test_a_list_that_leads_nowhere(toy: Toy, tmp_path: Path) -> None:
    damaged = fresh(toy)
    damaged.put("struct task_struct", damaged.task, tasks__next=NOWHERE)
    assert walks(damaged, tmp_path / "run") == {"tasks": 1}


def test_a_ring_that_does_not_come_back(toy: Toy, tmp_path: Path) -> None:
    damaged = fresh(toy)
    link = damaged.at("struct task_struct", "tasks")
    damaged.put("struct task_struct", damaged.task, tasks__next=places.DIRECT + damaged.task + link)
    assert walks(damaged, tmp_path / "run") == {"list of struct task_struct": 1}


def test_a_task_without_its_memory(toy: Toy, tmp_path: Path) -> None:
    damaged = fresh(toy)
    damaged.put("struct task_struct", damaged.task, mm=NOWHERE)
    assert walks(damaged, tmp_path / "one") == {"tasks": 1}
    damaged = fresh(toy)
    damaged.put("struct mm_struct", damaged.mystery + 64, pgd=NOWHERE)
    assert walks(damaged, tmp_path / "other") == {"page tables of tasks": 1}


@pytest.mark.parametrize("loops", [False, True])
def test_vmalloc_areas_that_lead_nowhere(toy: Toy, tmp_path: Path, loops: bool) -> None:
    damaged = fresh(toy)
    if damaged.symbols.address("pcpu_slot") is None:  # the newer of the two toys
        damaged.word(damaged.symbol("vmap_area_list"), NOWHERE)
    else:
        area = damaged.mystery + 128
        damaged.word(damaged.symbol("vmlist"), places.DIRECT + area)
        damaged.put("struct vm_struct", area, next=places.DIRECT + area if loops else NOWHERE)
    assert walks(damaged, tmp_path / "run") == {"vmalloc areas": 1}


def test_the_reader_of_a_run_is_told(runs: list[Path], tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(runs[2], folder)
    metrics = json.loads((folder / "metrics.json").read_text())
    assert metrics["abandoned_walks"] == {} and Run(folder).abandoned == ""
    (folder / "metrics.json").write_text(json.dumps(metrics | {"abandoned_walks": {"tasks": 2, "vmalloc areas": 1}}))
    sentence = "3 walks through the guest's memory could not be ended (tasks 2, vmalloc areas 1)"
    assert Run(folder).abandoned.startswith(sentence)
    out = StringIO()
    show(load_runs([folder]), Console(file=out, width=300))
    assert sentence in out.getvalue()
    page.write(load_runs([folder]), tmp_path / "report.html")
    assert sentence.replace("'", "&#39;") in (tmp_path / "report.html").read_text()


# The dentry's name is also its inode's.
@pytest.mark.parametrize(("name", "abandoned"), [(0, {}), (NOWHERE, {"names of objects": 2})])
def test_null_in_an_object_is_no_walk_given_up(toy: Toy, tmp_path: Path, name: int, abandoned: dict[str, int]) -> None:
    damaged = fresh(toy)
    damaged.put("struct dentry", damaged.dentry, d_name__name=name)
    assert walks(damaged, tmp_path / "run") == abandoned
