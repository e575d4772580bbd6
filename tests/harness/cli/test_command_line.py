# SPDX-License-Identifier: BSD-3-Clause
"""The command line: what each command does with good and bad words."""

import argparse
import io
import json
import re
from pathlib import Path
from types import ModuleType

import pytest
from fake_runs import builds
from rich.console import Console

import harness.checks.bench
import harness.checks.verify
from analysis.attribute.run_tables import OfMemory
from common.locks import is_held
from common.outcome import Failure, Outcome, bad_input
from common.paths import REPOSITORY
from harness.build import host_packages, kernel_source
from harness.checks import registry
from harness.checks.registry import Check
from harness.cli import ablation, lab, main, which
from harness.cli import machine as machine_command
from harness.run import many, runner
from harness.run.known_costs import Known
from harness.spec import machine, workload
from harness.spec.machine_schema import schema
from harness.spec.point import Point


def call(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = main.main(list(arguments))
    said = capsys.readouterr()
    return status, said.out, said.err


def test_overview_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    status, output, _ = call(capsys, "--help")
    assert status == 0
    assert all(name in output for name in main.COMMANDS)
    assert call(capsys)[0] == 2


@pytest.mark.parametrize("name", list(main.COMMANDS))
def test_every_command_explains_itself(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main.main([name, "--help"])
    assert ended.value.code == 0
    assert "usage: run.py" in capsys.readouterr().out


_LONG = "kernel stock, cores 48 " * 20
"""Longer than the name of a file can be."""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["laboratory"], "no command 'laboratory'"),
        (["./run.py", "verify"], "Leave it out"),
        (["run", "workload=micro:nothing"], "nothing"),
        (["run", "workload=micro:stat * cores=1+2"], "means 2 points"),
        (["run", "workload=micro:stat * cores=49"], "1 to 48"),
        (["run", "/no/such/point.toml"], "is not a point"),
        (
            ["run", "--workload", "micro:stat,micro:lseek", "--cores", "1,2"],
            "'--workload micro:stat,micro:lseek --cores 1,2' means 4",
        ),
        (
            ["run", "workload=micro:stat * cores=1", "--cores", "2"],
            "'workload=micro:stat * cores=1' names cores, and so does --cores.",
        ),
        (["run", "workload=micro:stat * set.l2_kib=512", "--set", "l2_kib=256"], "names set.l2_kib, and so does --set."),
        (["run", "workload=micro:stat", "--program", "sort"], "names workload, and so does --program."),
        (["run", "--workload", "micro:stat", "--program", "sort"], "Both --program and --workload"),
        (["run", "runs/a/point.toml", "--cores", "2"], "says all of its point, so there can be no other cores."),
        (["run", "--workload", "micro:stat", "--gdb", "--trials", "2"], "--gdb is for one run"),
        (["run"], "There is no point to run."),
        (["run", "--program", "sort", "--args", "it's"], "--args it's cannot be split into words: no closing quotation."),
        *(([command, _LONG], "should be") for command in ("run", "show", "reproduce", "agree")),
        (["diff", _LONG, _LONG], "should be"),
        (["run", f"/tmp/{'b' * 300}"], "is not a point"),
        (["sweep", "workload=micro:stat * engine=foo"], "There is no engine 'foo'. Use fast or gem5."),
        (["lab", "--workload", "memcached:load=card", "--engine", "foo"], "There is no engine 'foo'. Use fast or gem5."),
        (["run", "workload=micro:stat", "--engine", "foo"], "There is no engine 'foo'."),
        (["sweep", "workload=micro:stat", "--report", "/tmp"], "--report /tmp is a folder. Name a file, for example /tmp/rep"),
        (["report", "--report", "/tmp"], "--report /tmp is a folder."),
        (["sweep", "workload=micro:stat", "--output", "/dev/null"], "--output /dev/null is no folder."),
        (["run", "workload=micro:stat", "--output", "/dev/null"], "--output /dev/null is no folder."),
        (["sweep"], "needs a workload"),
        (["sweep", "workload=micro:stat * trial=1+2", "--trials", "3"], "names trial, and so does --trials."),
        (["sweep", "workload=micro:stat", "--machine", "cray"], "no machine"),
        (["lab", "--set", "l2_kib"], "not KEY=VALUE"),
        (["lab", "--cores", "1,100"], "1 to 48"),
        (["lab", "--kernel", "linux-1.0"], "linux-1.0"),
        (["lab", "--workload", "nothing"], "nothing"),
        (["sweep", "workload"], "should be"),
        (["machine", "show", "cray"], "no machine"),
        (["machine", "show"], "needs a name"),
        (["verify", "nothing"], "no check 'nothing'"),
        (["engine", "build", "nothing"], "no engine 'nothing'"),
    ],
)
def test_bad_input_is_one_sentence_and_a_cure(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, _, errors = call(capsys, *arguments)
    assert status == Outcome.BAD_INPUT.exit_status
    assert errors.startswith("mosbench: bad-input: ")
    assert said in errors
    assert len(errors.strip().splitlines()) == 1


@pytest.mark.parametrize("files", [["CHANGELOG.md", "docs", "run.py", "tests"], ["*"]])
@pytest.mark.parametrize("command", ["run", "sweep"])
def test_a_star_without_quotes_is_named(
    command: str, files: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(REPOSITORY)
    status, _, errors = call(capsys, command, "workload=micro:stat", *files, "cores=1", *files, "order=rr", "--reuse", "any")
    assert status == Outcome.BAD_INPUT.exit_status
    assert "was not in quotes" in errors
    assert ("CHANGELOG.md, docs, run.py, ..." in errors) is (files != ["*"])
    assert f"./run.py {command} 'workload=micro:stat * cores=1 * order=rr'" in errors


def test_words_that_are_no_files_are_as_before(capsys: pytest.CaptureFixture[str]) -> None:
    for more in ("--nothing", "nothing-of-that-name", "nothing-of-that-name" * 20):
        with pytest.raises(SystemExit):
            main.main(["sweep", "workload=micro:stat", more])
        assert f"unrecognized arguments: {more}" in capsys.readouterr().err


def test_list_workloads_says_what_each_parameter_can_be(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    everything = call(capsys, "list", "workloads")[1]
    for one in workload.load_all():
        alone = call(capsys, "list", "workloads", one.name)[1]
        assert alone in everything
        for variant in one.variants.values():
            row = rf"^ ?{one.name}:{variant.name}( \(default\))? +{re.escape(variant.summary)} +{variant.unit}"
            assert re.search(row, alone, re.MULTILINE)
            for parameter in variant.parameters.values():
                allowed = re.escape(parameter.allowed.removeprefix("a whole number from "))
                row = rf"^ ?{parameter.name} +\S.* {allowed} +{re.escape(parameter.summary)}"
                assert re.search(row, alone, re.MULTILINE), parameter.name
                assert f"{parameter.name} ({parameter.default})" in alone
    assert "called 'nothing'" in call(capsys, "list", "workloads", "nothing")[2]
    assert "takes no name" in call(capsys, "list", "words", "nothing")[2]


@pytest.mark.parametrize("width", [60, 80, 100])
def test_what_is_piped_follows_columns(width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    commands = ["--help", "verify", "bench", "machine show opteron-8431"]
    commands += [f"list {what}" for what in ("workloads", "machines", "kernels", "fixes", "words")]
    for command in commands:
        shown = call(capsys, *command.split())[1]
        assert max(map(len, shown.splitlines())) <= width, command
        assert "\N{HORIZONTAL ELLIPSIS}" not in shown


def test_lists_and_machine(capsys: pytest.CaptureFixture[str]) -> None:
    assert "micro:open-close" in call(capsys, "list", "workloads")[1]
    assert "opteron-8431" in call(capsys, "list", "machines")[1]
    assert "linux-6.1" in call(capsys, "list", "kernels")[1]
    assert "cross-socket transfers" in call(capsys, "list", "words")[1]


def test_machine_show_says_value_unit_meaning_and_source(capsys: pytest.CaptureFixture[str]) -> None:
    shown = call(capsys, "machine", "show", "small-2x2", "--set", "l2_kib=1024")[1]
    # What is said of a value stands behind it, so that "key value" at the start of a line can still be looked for.
    assert re.search(r"^l2_kib 1024 +# KiB\. L2 cache of each core\. \[--set\]$", shown, re.MULTILINE)
    assert shown.endswith("column: home of the line\n 122   249\n 249   122\n")


def test_machine_show_on_a_narrow_terminal_cuts_nothing() -> None:
    made = machine.load("opteron-8431")
    terminal = Console(width=80, file=io.StringIO())
    terminal.print(machine_command.table(made, machine.sources("opteron-8431", {})))
    assert isinstance(terminal.file, io.StringIO)
    shown = terminal.file.getvalue()
    assert max(map(len, shown.splitlines())) <= 80
    values = made.values() | {"links": "0-1 0-2"}  # broken after some pairs
    for key in schema().keys.values():
        assert re.search(rf"│ {key.name} +│ {values[key.name]}", shown), key.name
    assert "…" not in shown


def test_machine_show_for_an_engine_is_its_file(capsys: pytest.CaptureFixture[str]) -> None:
    made = machine.load("small-2x2", {"l2_kib": "1024"}, "gem5")
    assert made.core == "in-order"
    arguments = ("machine", "show", "small-2x2", "--set", "l2_kib=1024", "--engine")
    assert call(capsys, *arguments, "gem5")[1] == made.flat("gem5")
    assert "fast or gem5" in call(capsys, *arguments, "abacus")[2]


def test_machine_keys_are_the_table_of_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    page = (REPOSITORY / "docs/reference/machines.md").read_text(encoding="utf-8")
    for table in call(capsys, "machine", "keys")[1].split("\n\n"):
        assert table.strip() in page, "Put what `./run.py machine keys` prints into docs/reference/machines.md."


def selected(*arguments: str) -> list[Point]:
    parser = argparse.ArgumentParser()
    lab.configure(parser)
    return lab.select(parser.parse_args(arguments))


def test_default_points_of_the_lab() -> None:
    points = selected()
    assert {point.cores for point in points} == {1, 6, 12, 24, 48}
    assert {point.workload for point in points} == {"micro", "memcached", "gmake"}
    assert len({point.id for point in points}) == len(points)


def test_points_of_lab_options() -> None:
    points = selected(
        "--workload", "micro:stat:iterations=3,warmup=1,micro:lseek", "--cores", "2,4", "--trials", "2", "--machine", "small-2x2"
    )
    assert len(points) == 2 * 2 * 2
    assert {point.workload_text for point in points} == {"micro:stat", "micro:lseek"}
    assert {point.parameters["warmup"] for point in points if point.variant == "stat"} == {"1"}


def test_options_of_a_point_are_settings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`run` and `sweep` take each option of `lab`, and mean what the settings mean."""
    asked: list[Point] = []

    def run_point(point: Point, *given: object, **more: object) -> runner.Ran:
        asked.append(point)
        return runner.Ran(tmp_path, False)

    monkeypatch.setattr(runner, "run_point", run_point)
    text = "machine=small-2x2 * kernel=linux-6.1 * workload=micro:stat * cores=2 * order=rr * set.l2_kib=256"
    words = ["--machine", "small-2x2", "--kernel", "linux-6.1", "--workload", "micro:stat", "--cores", "2", "--order", "rr"]
    both = ["machine=small-2x2 * workload=micro:stat", *words[2:4], *words[6:]]
    for command in ([text], [*words, "--set", "l2_kib=256"], [*both, "--set", "l2_kib=256"]):
        assert call(capsys, "run", *command, "--json")[0] == 0
    assert len(asked) == 3 and len({point.id for point in asked}) == 1
    assert call(capsys, "run", text, "--trials", "3", "--json")[0] == 0
    assert [point.trial for point in asked[3:]] == [1, 2, 3]


@pytest.mark.usefixtures("nothing_there")
def test_options_of_a_sweep_are_settings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = ["--dry-run", "--output", str(tmp_path)]
    shown = [
        call(capsys, "sweep", *words, *where)[1]
        for words in (
            ["machine=small-2x2 * workload=micro:stat+micro:lseek * cores=1+4 * trial=1+2"],
            ["--machine", "small-2x2", "--workload", "micro:stat,micro:lseek", "--cores", "1,4", "--trials", "2"],
            ["workload=micro:stat+micro:lseek * trial=1+2", "--machine", "small-2x2", "--cores", "1,4"],
        )
    ]
    assert "Points: 8, 0 of them there already" in shown[0]
    assert [sorted(text.splitlines()) for text in shown[1:]] == [sorted(shown[0].splitlines())] * 2


def test_points_of_an_ablation() -> None:
    parser = argparse.ArgumentParser()
    ablation.configure(parser)
    options = ["--source", "linux-6.1", "--fixes", "page", "--workload", "micro:stat,micro:lseek", "--trials", "2"]
    points = ablation.select(parser.parse_args(options))
    assert [point.kernel_text for point in points[:6:2]] == ["linux-6.1:stock", "linux-6.1:page", "linux-6.1:pk"]
    assert [(point.cores, point.trial) for point in points] == [(48, 1), (48, 2)] * 6


def ablation_kernels(*options: str) -> list[str]:
    parser = argparse.ArgumentParser()
    ablation.configure(parser)
    return [point.fix_set for point in ablation.select(parser.parse_args(["--source", "linux-2.6.35", *options]))]


def test_schemes_of_an_ablation() -> None:
    one = ["--workload", "micro:stat", "--fixes", "lseek,page"]
    assert ablation_kernels(*one) == ["stock", "lseek", "lseek+page", "pk"]
    assert ablation_kernels(*one, "--scheme", "alone") == ["stock", "lseek", "page", "pk"]
    assert ablation_kernels(*one, "--scheme", "all-but-one") == ["stock", "pk-lseek", "pk-page", "pk"]
    assert len(ablation_kernels(*one, "--scheme", "in-order,alone,all-but-one")) == 7  # each set once
    assert len(ablation_kernels("--workload", "micro:stat", "--scheme", "in-order,alone,all-but-one")) == 17 + 15 + 15


def test_fixes_of_an_ablation_that_the_paper_ties_to_the_application() -> None:
    alone = ["--scheme", "alone", "--fixes", "paper"]
    assert ablation_kernels("--workload", "postgresql", *alone) == ["stock", "net-device", "lseek", "pk"]
    assert ablation_kernels("--workload", "metis", *alone) == ["stock", "superpage-mutex", "superpage-zeroing", "pk"]
    for words, refused in (
        (["--workload", "gmake", *alone], "ties no fix of linux-2.6.35 to gmake"),
        (["--workload", "micro:stat", *alone], "micro is none of the paper's applications"),
        (["--workload", "micro:stat", "--scheme", "some"], "no scheme 'some'"),
    ):
        with pytest.raises(Failure, match=refused):
            ablation_kernels(*words)


@pytest.fixture
def nothing_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is built, where to is the test's, and no host has run anything."""
    monkeypatch.setattr("harness.run.plan.many.parts", lambda wanted, extra_config: [])
    monkeypatch.setattr("harness.run.known_costs.read", lambda: Known([], {}))
    monkeypatch.setenv("COLUMNS", "160")


@pytest.mark.usefixtures("nothing_there")
@pytest.mark.parametrize(
    ("words", "count"),
    [
        (["sweep", "workload=micro:stat+micro:lseek * cores=1+48"], 4),
        (["lab", "--workload", "micro:stat", "--cores", "1,2,4"], 3),
        (["ablation", "--source", "linux-6.1", "--fixes", "page", "--workload", "micro:stat"], 3),
    ],
)
def test_dry_run_runs_nothing(words: list[str], count: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, output, _ = call(capsys, *words, "--dry-run", "--output", str(tmp_path))
    assert status == 0
    assert f"Points: {count}, 0 of them there already" in output
    assert len(re.findall(r"^ micro:.* unknown +unknown", output, re.MULTILINE)) == count
    assert "How long and how large is unknown" in output


@pytest.mark.usefixtures("nothing_there")
def test_a_source_that_is_carried_over_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "kernel=linux-2.6.35:stock+pk * workload=micro:stat * cores=1"
    _, output, errors = call(capsys, "sweep", "--dry-run", text, "--output", str(tmp_path))
    points = [line for line in output.splitlines() if line.startswith(" micro:")]
    assert ["linux-2.6.35:stock" in line or "linux-2.6.35:pk" in line for line in points] == [True, True]
    assert errors == "mosbench: kernel pk is linux-2.6.35:pk.\n"
    assert [
        point.kernel_text for point in selected("--kernel", "linux-2.6.35:stock,pk", "--cores", "1", "--workload", "micro:stat")
    ] == [
        "linux-2.6.35:stock",
        "linux-2.6.35:pk",
    ]
    assert capsys.readouterr().err == errors


@pytest.mark.parametrize(
    ("mode", "outcome"), [("ok", Outcome.OK), ("panic", Outcome.GUEST_PANIC), ("wrong", Outcome.WRONG_RESULT)]
)
def test_run_says_how_it_ended(
    mode: str, outcome: Outcome, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "prepare", lambda _: builds(mode))
    monkeypatch.setattr("analysis.attribute.run_tables.write_run_tables", lambda *given: OfMemory({}, []))
    monkeypatch.setattr("analysis.report.kept_tables.find", lambda folder: None)
    text = "machine=small-2x2 * workload=micro:stat * cores=2"
    status, output, _ = call(capsys, "run", text, "--json", "--output", str(tmp_path))
    assert status == outcome.exit_status
    assert json.loads(output.splitlines()[-1])["outcome"] == outcome.value
    if outcome is Outcome.OK:
        point_file = next(tmp_path.glob("*/point.toml"))
        assert which.read(str(point_file)) == which.read(text)  # a run directory says how to repeat it


def test_run_takes_the_engine_beside_the_point(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def prepare(point: Point) -> None:
        asked.append(point.engine)
        raise bad_input("Far enough.", "")

    monkeypatch.setattr(runner, "prepare", prepare)
    for words in (["--engine", "gem5"], []):
        call(capsys, "run", "machine=small-2x2 * workload=micro:stat * cores=2", "--json", "--output", str(tmp_path), *words)
    assert asked == ["gem5", "fast"]


@pytest.mark.parametrize("package", [harness.checks.bench, harness.checks.verify])
def test_every_check_says_what_it_takes(package: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    for name, one in registry.find(package).items():
        with pytest.raises(SystemExit) as ended:
            one.run(["--help"])
        said = capsys.readouterr().out
        assert ended.value.code == 0
        assert said.startswith(f"usage: run.py {package.__name__.rpartition('.')[2]} {name} ")
        with pytest.raises(SystemExit) as ended:
            one.run(["--no-such-option"])
        assert ended.value.code == 2
        assert "unrecognized arguments: --no-such-option" in capsys.readouterr().err


@pytest.mark.parametrize("passed", [True, False])
def test_the_figure_of_a_check_is_the_last_line(
    passed: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def measure(arguments: list[str]) -> Check:
        return Check(passed, f"worst 1 % {arguments}", 1)

    monkeypatch.setattr(registry, "find", lambda package: {"latencies": registry.Named("latencies", "latencies", measure)})
    status, output, _ = call(capsys, "verify", "latencies", "--quick")
    assert (status == 0) == passed
    assert output.splitlines()[-1] == "worst 1 % ['--quick']"


def test_a_place_that_may_not_be_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(points: object, **options: object) -> None:
        raise PermissionError(13, "Permission denied", "/somewhere")

    def full(points: object, **options: object) -> None:
        raise OSError(28, "No space left on device", str(tmp_path))

    monkeypatch.setattr(many, "prepare_all", refuse)
    status, _, errors = call(capsys, "lab")
    assert status == Outcome.BAD_INPUT.exit_status
    assert "/somewhere" in errors
    monkeypatch.setattr(many, "prepare_all", full)
    assert call(capsys, "lab")[0] == Outcome.DISK_FULL.exit_status

    def taken(points: object, **options: object) -> None:
        (tmp_path / "file").touch()
        (tmp_path / "file").mkdir()

    monkeypatch.setattr(many, "prepare_all", taken)
    status, _, errors = call(capsys, "lab")
    assert status == Outcome.BAD_INPUT.exit_status
    assert f"{tmp_path}/file cannot be used: File exists." in errors

    def broken(points: object, **options: object) -> None:
        raise OSError("about nothing that a user could put right")

    monkeypatch.setattr(many, "prepare_all", broken)
    with pytest.raises(OSError, match="about nothing"):
        main.main(["lab"])


def test_a_missing_package_is_one_line_to_paste(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_packages, "installed", lambda names: {"gcc": "12"})
    monkeypatch.setattr(host_packages, "privileged_prefix", lambda: None)
    host_packages.require("gcc")
    with pytest.raises(Failure) as caught:
        host_packages.require("gcc", "flex", "bison")
    assert caught.value.outcome is Outcome.BAD_INPUT
    assert "apt-get install --yes --no-install-recommends flex bison" in caught.value.cure
    assert "gcc" not in caught.value.cure


def test_an_installation_is_not_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    gently = []
    monkeypatch.setattr(host_packages, "run_logged", lambda *given, **options: gently.append(options["gently"]))
    monkeypatch.setattr(host_packages, "installed", lambda names: {})
    monkeypatch.setattr(host_packages, "privileged_prefix", lambda: ["sudo", "-n"])
    host_packages.require("gcc")
    assert gently == [True, True]


def test_packages_are_installed_by_one_process_at_a_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MOSBENCH_CACHE", str(tmp_path))
    held = []
    monkeypatch.setattr(
        host_packages, "run_logged", lambda *given, **options: held.append(is_held(tmp_path / host_packages.LOCK))
    )
    monkeypatch.setattr(host_packages, "installed", lambda names: {})
    monkeypatch.setattr(host_packages, "privileged_prefix", list)
    host_packages.require("gcc")
    assert held == [True, True]
    assert not is_held(tmp_path / host_packages.LOCK)

    seen = iter(({}, {"gcc": "12"}))
    monkeypatch.setattr(host_packages, "installed", lambda names: next(seen))
    host_packages.require("gcc")
    assert len(held) == 2, "another process has installed it meanwhile"


def test_the_table_of_tools_is_whole() -> None:
    for package in host_packages.packages().values():
        assert package.use
        assert package.groups <= set(host_packages.GROUPS)
    assert "gcc" in host_packages.installed(host_packages.packages())
    assert {"linux-source-6.1", "libelf-dev", "perl"} <= set(host_packages.of_groups("kernel")), "what the recipes name"


@pytest.mark.usefixtures("nothing_there")
def test_dry_run_of_checks(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(many, "complete", lambda points, root, reuse: ([], list(points)))
    counted = {}
    for name in registry.find(harness.checks.verify):
        status, output, _ = call(capsys, "verify", name, "--dry-run")
        assert status == 0
        if (said := re.search(r"Points: (\d+), 0 of them there already", output)) is not None:
            counted[name] = int(said[1])
        else:
            known = name in ("card-fuzz", "fixes-apply", "own-program", "protocol")
            assert known and output.strip(), f"{name} does not say what it would run"
    wanted = {
        "attribution": 1,
        "executors": 4,
        "faults": 11,
        "known-answers": 7,
        "latencies": 1,
        "order": 30,
        "tables": 6,
        "tap": 3,
        "windows": 6,
    }
    assert {name: counted[name] for name in wanted} == wanted
    assert all(counted.values())


@pytest.mark.usefixtures("nothing_there")
def test_dry_run_of_fixes(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def complete(points: list[Point], root: Path, reuse: str) -> tuple[list[object], list[Point]]:
        asked.append(reuse)
        return [], list(points)

    monkeypatch.setattr(many, "complete", complete)
    monkeypatch.setattr(kernel_source, "find_source", lambda recipe: (Path("/"), ""))
    _, output, _ = call(capsys, "verify", "fixes", "--source", "linux-2.6.35", "--fix", "lseek", "--trials", "2", "--dry-run")
    assert "Points: 8," in output, "two kernels, on each one with hits counted, two trials and one core"
    _, output, _ = call(capsys, "verify", "fix-stress", "--variant", "seeks", "--source", "linux-2.6.35", "--dry-run")
    assert "Points: 1," in output and "run again for the rest" in " ".join(output.split())
    assert asked == ["same", "none"], "runs of fixes are kept, those of a stress are not"
