# SPDX-License-Identifier: BSD-3-Clause
"""Points: what settings mean, identity, and point.toml."""

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from fake_runs import point as small_point
from poor_engine import gem5_without_card
from refusals import refused

from common.outcome import Failure, Outcome
from harness.cli import which
from harness.spec import kernel, sweep
from harness.spec import point as points


def test_defaults_are_filled_in() -> None:
    point = points.resolve({"workload": "micro:stat"})
    assert (point.machine.name, point.engine, point.kernel_text, point.cores) == ("opteron-8431", "fast", "linux-6.1:stock", 48)
    assert int(point.parameters["iterations"]) > 0


def test_a_size_may_need_another_machine() -> None:
    assert points.resolve({"workload": "metis:size=paper"}).machine.node_mib == 2048
    assert points.resolve({"workload": "metis:size=paper", "set.node_mib": "1536"}).machine.node_mib == 1536


def test_parameters_and_machine_keys_are_overridden() -> None:
    point = points.resolve({"workload": "micro:stat:iterations=5", "param.warmup": "7", "set.l2_kib": "1024", "cores": "1"})
    assert point.parameters["iterations"] == "5"
    assert point.parameters["warmup"] == "7"
    assert point.machine.l2_kib == 1024


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("micro:iterations=100", "micro:open-close:between=0,fault=none,iterations=100,warmup=5"),
        ("micro", "micro:open-close:between=0,fault=none,iterations=101,warmup=5"),
        ("micro::iterations=7,warmup=3", "micro:open-close:between=0,fault=none,iterations=7,warmup=5"),
    ],
)
def test_a_parameter_beside_any_form_of_a_workload(text: str, wanted: str) -> None:
    assert points.resolve({"workload": text, "param.warmup": "5"}).job == wanted


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("micro:stat:iterations", "'iterations' in the workload .* is not key=value"),
        ("micro:stat:warmup", "'warmup' in the workload .* is not key=value"),
        ("micro:stat:iterations=1,iterations=2", "gives iterations twice"),
        ("micro:iterations=1:between=2", "something after its parameters"),
    ],
)
def test_what_is_wrong_beside_a_parameter_is_said(text: str, said: str) -> None:
    with pytest.raises(Failure, match=said):
        points.resolve({"workload": text, "param.warmup": "5"})


def test_clients_are_behind_the_card_where_engine_and_kernel_have_one(monkeypatch: pytest.MonkeyPatch) -> None:
    gem5_without_card(monkeypatch)
    base = {"workload": "memcached", "cores": "2", "set.core": "in-order"}
    on_fast, on_gem5 = (points.resolve({**base, "engine": engine}) for engine in ("fast", "gem5"))
    assert (on_fast.parameters["load"], on_gem5.parameters["load"]) == ("card", "loopback")
    assert (set(on_fast.parts), set(on_gem5.parts)) == ({points.NETWORK_CARD}, set())
    assert points.with_engine(on_gem5, "fast") == points.resolve({**base, "param.load": "loopback"})
    with pytest.raises(Failure, match="load=card needs a network-card, which engine gem5 does not have"):
        points.with_engine(on_fast, "gem5")
    with pytest.raises(Failure, match="which engine gem5 does not have"):
        points.resolve({**base, "engine": "gem5", "param.load": "card"})
    whole = kernel.load_recipe
    monkeypatch.setattr(kernel, "load_recipe", lambda source: replace(whole(source), drivers=()))
    assert points.resolve(base).parameters["load"] == "loopback"
    with pytest.raises(Failure, match=r"which kernel linux-6\.1 does not have"):
        points.resolve({**base, "param.load": "card"})


def test_identity_has_everything_in_it() -> None:
    base = small_point()
    others = [
        small_point(3),
        small_point(2, {"order": "rr"}),
        small_point(2, {"trial": "2"}),
        small_point(2, {"workload": "micro:stat:iterations=3"}),
        small_point(2, {"set.l2_kib": "1024"}),
        replace(base, fixes=("dentry",)),
        replace(base, engine="gem5"),
        replace(base, machine=replace(base.machine, windows=5)),
    ]
    assert len({base.id, *(other.id for other in others)}) == len(others) + 1
    assert base.id == small_point().id
    assert base.id.startswith("fast-small-2x2-linux-6.1-stock-micro-stat-c2-")


def test_a_kernel_with_all_fixes_but_one() -> None:
    point = small_point(2, {"kernel": "linux-2.6.35:pk-lseek"})
    assert "lseek" not in point.fixes and len(point.fixes) == 15
    assert point.kernel_text == "linux-2.6.35:pk-lseek"
    assert point.id.startswith("fast-small-2x2-linux-2.6.35-pk-lseek-micro-stat-c2-")


def test_file_reads_back(tmp_path: Path) -> None:
    point = small_point(2, {"order": "rr", "set.clock_ghz": "2.55"})
    points.write(point, tmp_path / "point.toml")
    assert points.read(tmp_path / "point.toml") == point
    assert tomllib.loads((tmp_path / "point.toml").read_text())["core_list"] == [0, 2]


def test_file_that_is_no_point(tmp_path: Path) -> None:
    path = tmp_path / "point.toml"
    with pytest.raises(Failure, match="is not a point"):
        points.read(path)
    path.write_text("cores = 3\n")
    with pytest.raises(Failure, match="is not a point"):
        points.read(path)
    points.write(small_point(), path)
    written = path.read_text()
    for old, new, said in (
        ("cores = 2", 'cores = "2"', "cores is not of type int"),
        ("cores = 2", "cores = true", "cores is not of type int"),
        ("fixes = []", 'fixes = "dentry-count"', "fixes is not of type list"),
        ('variant = "stat"', "variant = 3", "variant is not of type str"),
    ):
        assert old in written
        path.write_text(written.replace(old, new))
        with pytest.raises(Failure, match=f"is not a point: {said}"):
            points.read(path)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("", "", ""),
        ('iterations = "20011"', "iterations = 20011", ""),
        ('variant = "stat"', 'variant = "state"', "There is no variant of micro called 'state'. Did you mean stat?"),
        ('variant = "stat"', 'variant = ""', "is not written in full"),
        ("[parameters]", '[parameters]\niteration = "3"', "There is no parameter of micro:stat called 'iteration'."),
        ('fault = "none"', 'fault = "explode"', "micro:stat cannot have fault=explode."),
        ('fault = "none"\n', "", "it is micro:stat:fault=none,"),
        ("cores = 2", "cores = 5", "allowed is 1 to 4"),
        ('order = "seq"', 'order = "sequence"', "Core order 'sequence' is unknown"),
        ('engine = "fast"', 'engine = "foo"', "There is no engine 'foo'. Use fast or gem5."),
    ],
)
def test_a_file_is_of_what_there_is(old: str, new: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "point.toml"
    points.write(small_point(2, {"param.iterations": "20011"}), path)
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))
    point = points.read(path)  # of what is gone there may be old runs
    if not said:
        points.check(point)
        assert which.read(str(path)) == point == small_point(2, {"param.iterations": "20011"})
        return
    for refuse in (lambda: points.check(point), lambda: which.read(str(path)), lambda: which.read(str(path), "gem5")):
        refused(refuse, said)
    refused(lambda: which.run_of(str(path), tmp_path), "There is no run of")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "needs a workload"),
        ({"workload": "micro:stat", "core": "1"}, "no setting 'core'"),
        ({"workload": "nothing"}, "nothing"),
        ({"workload": "micro:stat", "engine": "foo"}, "There is no engine 'foo'. Use fast or gem5."),
        ({"workload": "micro:stat", "cores": "49"}, "1 to 48"),
        ({"workload": "micro:stat", "cores": "0"}, "cores = 0"),
        ({"workload": "micro:stat", "cores": "many"}, "cores = many"),
        ({"workload": "micro:stat", "order": "random"}, "random"),
        ({"workload": "micro:stat", "kernel": "linux-9"}, "linux-9"),
        ({"workload": "micro:stat", "kernel": "linux-6.1:nothing"}, "nothing"),
        ({"workload": "micro:stat", "set.l2": "1"}, "l2 is not a key"),
        ({"workload": "micro:stat", "machine": "cray"}, "cray"),
        ({"workload": "micro:ping-pong", "cores": "1"}, "cores"),
    ],
)
def test_bad_settings(settings: dict[str, str], said: str) -> None:
    with pytest.raises(Failure) as caught:
        points.resolve(settings)
    assert caught.value.outcome is Outcome.BAD_INPUT
    assert said in str(caught.value)
    assert caught.value.cure


def test_command_line_names_the_job_and_has_a_limit() -> None:
    point = small_point()
    assert f"mosbench.job={point.job}" in points.command_line(point)
    with pytest.raises(Failure, match="too long"):
        points.command_line(replace(point, parameters={"x": "1" * 500}))


def test_a_machine_that_the_engine_cannot_be_is_refused() -> None:
    settings = {"workload": "micro:stat", "set.tlb_entries": "32"}
    assert points.resolve(settings | {"engine": "fast"}).machine.tlb_entries == 32
    with pytest.raises(Failure, match="on engine gem5: tlb_entries = 32"):
        points.resolve(settings | {"engine": "gem5"})


@pytest.mark.parametrize(
    "settings",
    [
        {"workload": "micro:stat"},
        {"workload": "micro:open-close:iterations=23,warmup=11", "cores": "12", "order": "rr", "trial": "3"},
        {"workload": "micro:stat", "kernel": "linux-6.1:dentry-count+dst-count", "machine": "small-2x2", "set.hop_cycles": "64"},
        {"workload": "micro:stat", "set.sockets": "2", "cores": "12", "kernel": "linux-6.1:pk"},
    ],
)
def test_words_of_a_point_mean_it(settings: dict[str, str]) -> None:
    made = points.resolve(settings)
    words = points.words(made)
    assert words is not None
    (parsed,) = sweep.parse(words).settings
    assert points.resolve(parsed) == made


def test_no_words_mean_a_machine_that_is_not_the_projects() -> None:
    made = points.resolve({"workload": "micro:stat"})
    assert points.words(replace(made, machine=replace(made.machine, name="mine"))) is None


def test_the_out_of_order_processor_is_gem5s() -> None:
    settings = {"engine": "gem5", "workload": "micro:stat", "set.core": "o3", "cores": "8"}
    assert points.resolve(settings).machine.core == "o3"
    with pytest.raises(Failure) as caught:
        points.resolve(settings | {"engine": "fast"})
    assert caught.value.outcome is Outcome.BAD_INPUT
