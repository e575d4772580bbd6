# SPDX-License-Identifier: BSD-3-Clause
"""The toy guest, old and new, and run directories made from it."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest
from toy import Toy, compile_kernel

from analysis.attribute.run_tables import write_run_tables


@pytest.fixture(scope="session", params=["6.1", "2.6.35"])
def toy(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Toy:
    """A guest with the structures of either kernel."""
    folder = tmp_path_factory.mktemp(f"toy-{request.param}")
    return Toy(compile_kernel(folder, old=request.param == "2.6.35"))


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Extracted runs of one workload at three core counts, and one of another workload whose engine knows less."""
    root = tmp_path_factory.mktemp("runs")
    toy = Toy(compile_kernel(root))
    folders = []
    for cores, rate in ((1, 50_000.0), (12, 9_000.0), (48, 1_234.5)):
        folder = root / f"open-{cores}"
        toy.write_run(folder, cores=cores)
        _finish(folder, toy, "open-close", cores, rate, {"user": 0.1, "system": 0.85, "idle": 0.05})
        folders.append(folder)
    folder = root / "other"
    toy.write_run(folder, cores=2)
    _finish(folder, toy, "private-counters", 2, 7.5, {"user": None, "system": None, "idle": None})
    return [*folders, folder]


@pytest.fixture(scope="session")
def compared(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Runs of Exim and of a microbenchmark on one and on 48 cores: stock, with one fix, two, and all three there are."""
    root = tmp_path_factory.mktemp("compared")
    toy = Toy(compile_kernel(root))
    folders = []
    for number, (workload, fixes, cores, rate) in enumerate(
        (
            *(("exim", (), cores, rate) for cores, rate in ((1, 400.0), (48, 100.0))),
            *(("exim", ("a", "b", "c"), cores, rate) for cores, rate in ((1, 400.0), (48, 300.0))),
            *(
                ("micro", fixes, 48, rate)
                for fixes, rate in (((), 10.0), (("b",), 20.0), (("b", "c"), 25.0), (("a", "b", "c"), 50.0))
            ),
        )
    ):
        folder = root / f"run-{number}"
        toy.write_run(folder, cores=cores)
        _finish(folder, toy, "open-close", cores, rate, {"user": 0.2, "system": 0.6, "idle": 0.2}, workload, fixes)
        folders.append(folder)
    return folders


def _finish(
    folder: Path,
    toy: Toy,
    variant: str,
    cores: int,
    rate: float,
    split: dict[str, float | None],
    workload: str = "micro",
    fixes: tuple[str, ...] = (),
) -> None:
    of_memory = write_run_tables(folder, toy.vmlinux)
    fix_set = "pk" if len(fixes) == 3 else "+".join(fixes) or "stock"
    metrics = {
        "units": 1000,
        "unit": "opens",
        "seconds": 0.5,
        "units_per_second": rate * cores,
        "units_per_second_core": rate,
        **split,
        **asdict(of_memory),
        **({"dropped": 3, "late": 0} if workload == "exim" else {}),
    }
    (folder / "metrics.json").write_text(json.dumps(metrics))
    provenance = {
        "revision": "0123456789abcdef",
        "dirty": False,
        "digests": {"kernel": "k" * 64, "image": "i" * 64, "engine": "e" * 64},
        "kernel_release": "6.1.0-toy",
        "engine": {"name": "fast", "versions": {"qemu": "7.2"}, "note": "", "cycles": "a model's"},
        "command": ["run.py", "run", "workload=<micro>"],
        "point": "workload=<micro> * cores=1",
    }
    (folder / "provenance.json").write_text(json.dumps(provenance))
    (folder / "point.toml").write_text(
        f'id = "p"\nengine = "fast"\nkernel = "linux-6.1"\nfixes = {json.dumps(fixes)}\nfix_set = "{fix_set}"\n'
        f'workload = "{workload}"\nvariant = "{variant}"\n'
        f'cores = {cores}\norder = "seq"\ntrial = 1\n[parameters]\niterations = "100"\n'
        '[machine]\nname = "opteron-8431"\nsockets = 8\ncores_per_socket = 6\n'
    )
