# SPDX-License-Identifier: BSD-3-Clause
"""What a user writes for a workload, what workload.toml states, and what is said when either is wrong."""

from pathlib import Path

import pytest

from common.outcome import Failure, Outcome
from harness.spec import workload


def test_every_workload_loads_and_its_defaults_make_a_job() -> None:
    loaded = workload.load_all()
    assert {"micro"} <= {one.name for one in loaded}
    for one in loaded:
        for variant in one.variants:
            job = workload.parse(f"{one.name}:{variant}")
            assert workload.parse(job.job()) == job
            assert len(job.job()) < 200  # gem5 passes 511 characters of kernel command line in all
            assert job.unit and one.summary


def test_smallest_size_is_every_lower_bound_but_what_is_stated() -> None:
    assert workload.smallest("metis") == "metis:4k:passes=1,tasks=16,text_kib=256"
    assert workload.smallest("metis", "2m", fault="flip-byte") == "metis:2m:fault=flip-byte,passes=1,tasks=16,text_kib=256"
    for one in workload.load_all():
        for variant in one.variants:
            if one.name != "micro":
                assert workload.parse(workload.smallest(one.name, variant)).variant == variant


@pytest.mark.parametrize(
    ("text", "job"),
    [
        ("micro:shared-atomic", "micro:shared-atomic:fault=none,iterations=20011,node=-1,warmup=1009"),
        ("micro:shared-atomic:iterations=7,fault=fail", "micro:shared-atomic:fault=fail,iterations=7,node=-1,warmup=1009"),
        ("micro", "micro:open-close:between=0,fault=none,iterations=101,warmup=101"),
        ("micro:iterations=+0012", "micro:open-close:between=0,fault=none,iterations=12,warmup=101"),
        ("micro::iterations=12", "micro:open-close:between=0,fault=none,iterations=12,warmup=101"),
    ],
)
def test_parse_fills_defaults_in(text: str, job: str) -> None:
    assert workload.parse(text).job() == job


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("mikro", "Did you mean micro?"),
        ("", "There is no workload called ''"),
        ("micro:pingpong", "Did you mean ping-pong?"),
        ("micro:stat:iteration=1", "Did you mean iterations?"),
        ("micro:stat:a=1", "Known: fault, iterations, warmup."),
        ("micro:stat:iterations=0", "iterations is a whole number from 1 to 1000000000."),
        ("micro:stat:iterations=1e3", "iterations is a whole number"),
        ("micro:stat:iterations=", "is not key=value"),
        ("micro:stat:iterations", "is not key=value"),
        ("micro:stat:iterations=1,iterations=2", "gives iterations twice"),
        ("micro:iterations=1:warmup=2", "something after its parameters"),
        ("micro:stat:fault=explode", "fault is one of none, wrong-result, fail, hang, panic."),
        ("micro:stream:bytes=5000", "a multiple of 4096"),
        ("micro:ping-pong:a=1", "a and b both 1"),
    ],
)
def test_bad_text_is_one_sentence_and_a_cure(text: str, part: str) -> None:
    with pytest.raises(Failure) as caught:
        workload.parse(text)
    assert caught.value.outcome is Outcome.BAD_INPUT
    assert part in str(caught.value)


def test_a_default_that_needs_what_is_lacking_is_another() -> None:
    lacking = {"network-card": "engine toy"}
    assert workload.parse("memcached").parameters["load"] == "card"
    assert workload.parse("memcached", lacking).parameters["load"] == "loopback"
    assert workload.parse("memcached:load=loopback").parameters["load"] == "loopback"
    with pytest.raises(Failure, match=r"load=card needs a network-card, which engine toy does not have\. Give load=loopback"):
        workload.parse("memcached:load=card", lacking)
    with pytest.raises(Failure, match=r"micro:card-accept with load=card needs .* Use another engine or kernel"):
        workload.parse("micro:card-accept", lacking)


def test_another_size() -> None:
    assert workload.at_size("exim:size=quick", "paper") == "exim:split:size=paper"
    assert workload.at_size("metis:2m", "paper") == "metis:2m:size=paper"
    given = workload.at_size("postgresql:read-only:locks=16,batches=4,size=quick", "paper")
    assert given == "postgresql:read-only:locks=16,batches=4,size=paper"
    given = workload.at_size("postgresql:read-only:locks=16,files=3", "paper", {"files": "6"})
    assert given == "postgresql:read-only:locks=16,files=6,size=paper"
    for without in ("micro:lseek", "micro:stat:iterations=53"):
        assert workload.at_size(without, "paper") == without
    with pytest.raises(Failure, match="There is no workload"):
        workload.at_size("exxim", "paper")


def test_a_size_stands_for_its_parameters_and_keys_of_the_machine() -> None:
    assert workload.parse("metis:size=default") == workload.parse("metis")
    paper = workload.parse("metis:2m:size=paper,tasks=8")
    assert (paper.parameters["text_kib"], paper.parameters["tasks"]) == ("262144", "8")
    assert paper.machine == {"node_mib": "2048"}
    assert workload.parse("psearchy:size=paper,files=100").parameters["files"] == "100"  # what is given itself
    assert workload.parse("gmake:gcc:size=quick").parameters["objects"] == "96"
    with pytest.raises(
        Failure, match=r"There is no size of metis called 'papr'\. Did you mean paper\? Known: default, paper, quick"
    ):
        workload.parse("metis:size=papr")
    with pytest.raises(Failure, match="There is no size of micro called 'paper'"):
        workload.parse("micro:size=paper")
    for one in workload.load_all():
        for name, variant in ((name, variant) for name in one.sizes for variant in one.variants):
            assert workload.parse(f"{one.name}:{variant}:size={name}") != workload.parse(f"{one.name}:{variant}")


def test_a_size_goes_before_what_a_variant_has_by_default() -> None:
    rows = {
        size: workload.parse(f"postgresql:read-write{size}").parameters["rows"] for size in ("", ":size=quick", ":size=paper")
    }
    assert rows == {"": "1000000", ":size=quick": "20000", ":size=paper": "10000000"}
    assert workload.parse("postgresql:read-only").parameters["rows"] == "100000"


def test_what_a_disk_is_made_of() -> None:
    paper, own = workload.parse("postgresql:size=paper"), workload.parse("postgresql:rows=5000,files=3")
    assert paper.workload.on_disk(paper.parameters) == {"rows": "10000000", "files": "0"}
    assert own.workload.on_disk(own.parameters) == {}
    assert workload.load("metis").on_disk(workload.parse("metis").parameters) == {}


def test_a_size_may_be_another_workloads() -> None:
    job = workload.parse("gmake:size=paper")
    assert (job.workload.name, job.variant) == ("gmake-linux", "tinyconfig")
    assert job.parameters == workload.parse("gmake-linux:size=paper").parameters
    assert workload.parse("gmake:size=paper,objects=9").parameters["objects"] == "9"
    assert workload.at_size("gmake:objects=576", "paper") == "gmake-linux:size=paper"


def test_cores_needed_follow_from_the_variant_and_from_core_indexes() -> None:
    assert workload.parse("micro:stat").needs_cores_min == 1
    assert workload.parse("micro:ping-pong").needs_cores_min == 2
    assert workload.parse("micro:ping-pong:b=47").needs_cores_min == 48
    assert workload.parse("micro:pointer-chase:core=6").needs_cores_min == 7


def test_what_is_measured_says_how_much_work_a_region_is() -> None:
    assert workload.load("micro").work == "iterations"
    assert [one.name for one in workload.load_all() if not one.work] == ["gmake-linux", "stress"]


def test_environment_is_what_init_gives_the_run_script() -> None:
    environment = workload.parse("micro:latencies").environment([0, 6])
    assert environment["MOSBENCH_CORES"] == "0 6"
    assert environment["MOSBENCH_NCORES"] == "2"
    assert environment["MOSBENCH_VARIANT"] == "latencies"
    assert environment["P_L1_BYTES"] == "8192"


_GOOD = """
name = "app"
summary = "an application"
unit = "requests"
default_variant = "plain"
[parameters.size]
summary = "a size"
default = 4
min = 1
max = 8
[variants.plain]
summary = "the one way"
"""


@pytest.mark.parametrize(
    ("old", "new", "part"),
    [
        ("", "", ""),
        ('name = "app"', 'name = "other"', "name is not the folder's"),
        ('unit = "requests"', "", "unit is missing"),
        ('unit = "requests"', "unit = 3", "unit is not of type str"),
        ("default = 4", "default = 9", "parameters.size.default is 9, not a whole number from 1 to 8"),
        ("default = 4", 'default = "4"', "parameters.size.default is not of type int"),
        ("min = 1", "mim = 1", "parameters.size.min is missing"),
        ('default_variant = "plain"', 'default_variant = "fancy"', "default_variant is not one of the variants"),
        ('summary = "the one way"', 'summary = "the one way"\nspeed = 1', "variants.plain.speed is not a key"),
        ('summary = "the one way"', 'summary = "the one way"\nparameters = ["width"]', "speaks of width"),
        ('summary = "the one way"', 'summary = "the one way"\ndefaults = {size = 99}', "variants.plain.defaults.size is 99"),
        ("[variants.plain]", "[variants.plain", "cannot be read as TOML"),
        ("[parameters.size]", "[parameters]\niterations = 100\n[parameters.size]", "parameters.iterations is not of type dict"),
        ("[variants.plain]", '[variants]\na = "text"\n[variants.plain]', "variants.a is not of type dict"),
        ("[variants.plain]", "[sizes]\nbig = 3\n[variants.plain]", "sizes.big is not of type dict"),
        ("max = 8", "max = 8\nneeds = {4 = 'wings'}", "parameters.size.needs.4 is wings, which is no part of a machine"),
        ("max = 8", "max = 8\nneeds = {9 = 'network-card'}", "parameters.size.needs.9 is 9, not a whole number from 1 to 8"),
        ("max = 8", "max = 8\notherwise = '5'", "parameters.size.otherwise is there for a default that needs something"),
        ("max = 8", "max = 8\nneeds = {4 = 'network-card'}\notherwise = '9'", "parameters.size.otherwise is 9, not a whole"),
        ("[variants.plain]", "[smallest]\nwidth = 1\n[variants.plain]", "smallest.width is no parameter"),
        ('default_variant = "plain"', 'default_variant = "plain"\nwork = "width"', "work is width, which is not a whole number"),
        ("[variants.plain]", "[smallest]\nsize = 0\n[variants.plain]", "smallest.size is 0, not a whole number from 1 to 8"),
        ("[variants.plain]", '[sizes.big]\nsummary = "x"\n[variants.plain]', "sizes.big is not lower-case letters"),
        ("[variants.plain]", '[disk]\nparameters = ["width"]\n[variants.plain]', "disk speaks of width, which is no parameter"),
        ("[variants.plain]", "[disk]\nwhere = {size = 9}\n[variants.plain]", "disk.where.size is 9, not a whole number from 1"),
        ("[variants.plain]", "[disk]\nof = 1\n[variants.plain]", "disk.of is not a key"),
        *(
            ("[parameters.size]", f'[sizes.big]\nsummary = "x"\n{line}\n[parameters.width]', part)
            for line, part in (
                ("width = 9", "sizes.big.width is 9, not a whole number from 1 to 8"),
                ("depth = 1", "sizes.big.depth is no parameter"),
                ('workload = "other"\nwidth = 4', "sizes.big is that of other, and so has no parameters"),
                ("machine = { wings = 2 }", "sizes.big.machine.wings is no key of a machine"),
            )
        ),
    ],
)
def test_a_wrong_definition_is_named_by_file_and_key(tmp_path: Path, old: str, new: str, part: str) -> None:
    path = tmp_path / "app" / "workload.toml"
    path.parent.mkdir()
    path.write_text(_GOOD.replace(old, new, 1))
    if not part:
        loaded = workload.load_file(path)
        assert loaded.variants["plain"].parameters["size"].default == "4"
        assert loaded.variants["plain"].unit == "requests"
        return
    with pytest.raises(Failure) as caught:
        workload.load_file(path)
    assert caught.value.outcome is Outcome.BAD_INPUT
    assert str(path) in caught.value.what and part in caught.value.what
