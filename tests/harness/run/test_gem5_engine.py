# SPDX-License-Identifier: BSD-3-Clause
"""The gem5 engine around a fake gem5: the ways in which a boot or a run can end, the cache of checkpoints, what is missing."""

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from fake_runs import HERE

from analysis.attribute.records import read_records
from common import settings
from common.outcome import Failure, Outcome
from common.progress import Step
from common.settings import Settings
from harness.build.coherence_model import CARD as CARD_LIBRARY
from harness.build.image import Image
from harness.build.kernel import Kernel
from harness.run.console import ConsoleReader
from harness.run.engines import base, gem5_binary, gem5_checkpoint
from harness.run.engines.gem5 import Gem5Engine
from harness.run.engines.gem5_binary import Gem5, lacking
from harness.run.engines.gem5_checkpoint import Progress
from harness.run.engines.gem5_log import check_stats, diagnosis, events
from harness.spec.point import Point, resolve

COMPLETE = {"version": "24.0.0.1", "x86": True, "protocol": "MOESI_hammer", "objects": list(gem5_binary.OBJECTS)}


class Ground:
    """A cache of its own, a fake gem5, and a point to run on them."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.program = folder / "gem5.py"
        text = (HERE / "fake_gem5.py").read_text(encoding="utf-8").split("\n", 1)[1]
        text = text.replace("Path(__file__).resolve().parents[2]", f"Path({str(HERE.parents[1])!r})")
        self.program.write_text(f"#!{sys.executable}\n{text}", encoding="utf-8")
        self.program.chmod(0o755)
        monkeypatch.setenv("MOSBENCH_CACHE", str(folder / "cache"))
        self.silence = 12.0  # ten times that for gem5: far more than a fake one needs on a busy host
        monkeypatch.setattr(settings, "load", lambda: Settings(boot_silence_seconds=self.silence, run_seconds=60.0))
        self.kernel = Kernel(folder / "bzImage", folder / "vmlinux", "6.1.0", folder, "kernel-1")
        self.image = Image(folder / "boot.ext2", folder / "root.ext2", "boot-1", "image-1", folder, 1)
        self.point = resolve(
            {"engine": "gem5", "machine": "small-2x2", "cores": "2", "workload": "micro:ping-pong:iterations=101"}
        )

    def run(
        self,
        modes: str,
        name: str = "run",
        kernel: Kernel | None = None,
        point: Point | None = None,
        protocol: str = "MOESI_hammer",
    ) -> Path:
        (self.folder / "MODE").write_text(modes)
        engine = Gem5Engine()
        engine._gem5 = Gem5(self.program, "24.0.0.1", protocol, "binary-1", gem5_binary.no_card(COMPLETE))
        folder = self.folder / name
        (folder / "engine").mkdir(parents=True)
        engine.execute(point or self.point, kernel or self.kernel, self.image, folder, Step("test"))
        return folder

    def checkpoints(self) -> list[Path]:
        return [path for path in (self.folder / "cache" / "checkpoints").iterdir() if not path.name.startswith(".")]


@pytest.fixture
def ground(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ground:
    return Ground(tmp_path, monkeypatch)


def test_a_good_run(ground: Ground) -> None:
    folder = ground.run("boots runs")
    console = (folder / "console.log").read_text()
    assert console.index('"boot"') < console.index('"start"') < console.index('"exit"')
    facts = json.loads((folder / "engine" / "engine.json").read_text())
    assert facts["phases"]["region"]["instructions"] == 2000
    assert facts["phases"]["region"]["cpu_seconds"] == 3.5
    assert facts["boot"]["instructions"] == 1000
    assert facts["phases"]["start"] == {"wall_seconds": 2.0, "instructions": 700}
    assert facts["phases"]["warm"]["wall_seconds"] == pytest.approx(0.7)
    assert facts["phases"]["all"]["wall_seconds"] == 2.5
    assert facts["protocol"] == "MOESI_hammer"


def test_caches_may_fill_from_the_start_of_the_job_on(ground: Ground) -> None:
    words = {"engine": "gem5", "machine": "small-2x2", "cores": "2", "workload": "micro:ping-pong", "set.caches_from": "job"}
    folder = ground.run("boots runs", point=resolve(words))
    console = (folder / "console.log").read_text()
    assert console.index('"boot"') < console.index('"start"') < console.index('"exit"')
    facts = json.loads((folder / "engine" / "engine.json").read_text())
    assert facts["phases"]["start"] == {"wall_seconds": 2.0, "instructions": 900}
    assert facts["phases"]["warm"]["wall_seconds"] == pytest.approx(0.7)
    assert facts["phases"]["all"]["wall_seconds"] == 2.5


def test_windows_are_spread_over_what_was_counted_before(ground: Ground) -> None:
    words = {"engine": "gem5", "machine": "small-2x2", "cores": "2", "workload": "micro:ping-pong", "set.windows": "20"}
    folder = ground.run("boots fails_early", point=resolve(words), protocol="MOESI_htassist")
    assert (folder / "engine" / "asked").read_text() == "20 240000 120000 1234"
    assert not (folder / "engine" / "count").exists()
    assert not (folder / "engine" / "windows").exists()
    lines = read_records(folder / "engine" / "records.bin").tables["lines"]
    assert (lines["vaddr"].tolist(), lines["upgrades"].tolist()) == ([1], [11])  # of the first window, and of all
    console = (folder / "console.log").read_text()
    assert console.count('"start"') == 1  # of the run, and not of the count before
    assert console.index('"boot"') < console.index('"start"') < console.index('"exit"')


def test_a_job_is_counted_once(ground: Ground) -> None:
    words = {"engine": "gem5", "machine": "small-2x2", "cores": "2", "workload": "micro:ping-pong", "set.windows": "20"}
    ground.run("boots fails_early", point=resolve(words), protocol="MOESI_htassist")
    words |= {"set.windows": "5", "set.l2_kib": "1024", "trial": "2"}
    folder = ground.run("boots fails_early", "again", point=resolve(words), protocol="MOESI_htassist")
    assert (folder / "engine" / "asked").read_text() == "5 240000 120000 1234"
    assert len(list((ground.folder / "cache" / "counts").glob("linux-*"))) == 1


def test_a_region_that_is_too_short_for_windows(ground: Ground) -> None:
    words = {"engine": "gem5", "machine": "small-2x2", "cores": "2", "workload": "micro:ping-pong", "set.windows": "1"}
    with pytest.raises(Failure, match="The region ended in each of its windows"):
        ground.run("boots fails_early", point=resolve(words), protocol="MOESI_htassist")


def test_windows_need_our_protocol(ground: Ground) -> None:
    words = {"engine": "gem5", "machine": "small-2x2", "cores": "2", "workload": "micro:ping-pong", "set.windows": "20"}
    with pytest.raises(Failure, match="windows = 20 needs a gem5 with MOESI_htassist"):
        ground.run("hangs runs", point=resolve(words))


def test_a_job_without_a_region_is_told_wherever_caches_begin(ground: Ground) -> None:
    words = {"engine": "gem5", "machine": "small-2x2", "cores": "2", "workload": "micro:ping-pong", "set.caches_from": "job"}
    with pytest.raises(Failure) as caught:
        ground.run("boots has_no_region", point=resolve(words))
    assert caught.value.outcome is Outcome.APPLICATION_FAILED


def test_a_boot_is_done_once_for_all_jobs(ground: Ground) -> None:
    ground.run("boots runs")
    ground.run("hangs runs", "again")  # the boot would fail
    other = resolve({"engine": "gem5", "machine": "small-2x2", "cores": "2", "workload": "micro:ping-pong", "set.l2_kib": "1024"})
    ground.run("hangs runs", "other-caches", point=other)
    assert len(ground.checkpoints()) == 1
    with pytest.raises(Failure):
        ground.run("hangs runs", "other-kernel", kernel=Kernel(ground.folder, ground.folder, "6.1.0", ground.folder, "kernel-2"))


def test_a_boot_is_for_all_workloads_and_not_for_another_init(ground: Ground) -> None:
    ground.run("boots runs")
    ground.image = replace(ground.image, root=ground.folder / "other.ext2", digest="image-2")
    folder = ground.run("hangs runs", "other-workload")  # the boot would fail
    assert (folder / "engine" / "disks").read_text().split() == [str(ground.image.boot), str(ground.image.root)]
    ground.image = replace(ground.image, boot_digest="boot-2")
    with pytest.raises(Failure):
        ground.run("hangs runs", "other-init")


def test_a_guest_boots_with_an_empty_disk_as_large_as_the_workload_s(ground: Ground) -> None:
    ground.run("boots runs")
    (entry,) = ground.checkpoints()
    assert (entry / "disks").read_text().split()[0] == str(ground.image.boot)
    assert (entry / "empty").read_text() == str(ground.image.disk_mib << 20)


def test_a_checkpoint_of_another_kernel_is_refused(ground: Ground) -> None:
    ground.run("boots runs")
    (entry,) = ground.checkpoints()
    path = entry / "inputs.json"
    path.write_text(path.read_text().replace("kernel-1", "kernel-2"))
    with pytest.raises(Failure, match="is of another kernel") as caught:
        ground.run("hangs runs", "again")
    assert caught.value.outcome is Outcome.BAD_INPUT
    assert str(entry) in caught.value.cure


def test_a_checkpoint_without_its_state_is_refused(ground: Ground) -> None:
    ground.run("boots runs")
    (entry,) = ground.checkpoints()
    shutil.rmtree(entry / "cpt")
    with pytest.raises(Failure, match=r"no state of the machine"):
        ground.run("hangs runs", "again")


def test_a_checkpoint_that_cannot_be_restored_is_named(ground: Ground) -> None:
    with pytest.raises(Failure, match="cannot restore") as caught:
        ground.run("boots lacks_state")
    (entry,) = ground.checkpoints()
    assert f"Remove the folder {entry};" in caught.value.cure


@pytest.mark.parametrize("name", ["simulate.py", "board/board.py", "board/machine_values.py"])
def test_a_changed_script_boots_again(name: str, ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = ground.folder / "gem5-configs"
    shutil.copytree(gem5_binary.CONFIGS, copy)
    monkeypatch.setattr(gem5_checkpoint, "CONFIGS", copy)
    gem5 = Gem5(ground.program, "24.0.0.1", "MOESI_hammer", "binary-1", "")

    def board() -> object:
        return gem5_checkpoint.inputs(ground.point, ground.kernel, ground.image, gem5)["board"]

    before, script = board(), copy / name
    script.write_text(f"{script.read_text(encoding='utf-8')}\n# a remark\n", encoding="utf-8")
    assert board() == before
    script.write_text(f"{script.read_text(encoding='utf-8')}\nchanged = True\n", encoding="utf-8")
    assert board() != before


@pytest.mark.parametrize(
    ("modes", "outcome", "said"),
    [
        ("hangs runs", Outcome.BOOT_HANG, "Bringing up secondary CPUs"),
        ("panics runs", Outcome.GUEST_PANIC, "Unable to mount root"),
        ("boots_without_init runs", Outcome.APPLICATION_FAILED, "ended before"),
        ("deadlocks runs", Outcome.PROTOCOL_DEADLOCK, "0x1f00c0"),
        ("boots deadlocks", Outcome.PROTOCOL_DEADLOCK, "physical address 0x1f00c0"),
        ("boots meets_no_transition", Outcome.ENGINE_CRASH, "no transition.*event: Ack state: SM"),
        ("boots lacks_state", Outcome.ENGINE_CRASH, r"cannot restore the checkpoint: it has no 'system.cpu7.xc.0:status'"),
        ("boots has_a_fault", Outcome.ENGINE_CRASH, r"stopped \(panic\).*a register that is not there"),
        ("boots runs_out_of_memory", Outcome.OUT_OF_MEMORY, "ran out of host memory"),
        ("boots loses_a_window", Outcome.OUT_OF_MEMORY, "process of window 3 was killed"),
        ("boots cannot_be_that", Outcome.BAD_INPUT, "MOESI_htassist needs a probe filter"),
        ("boots has_a_wrong_script", Outcome.ENGINE_CRASH, "AttributeError: object 'Board' has no attribute 'x'"),
        ("boots fails_early", Outcome.APPLICATION_FAILED, "status 3"),
        ("boots marks_nothing", Outcome.APPLICATION_FAILED, "marked no region"),
        ("boots hangs", Outcome.ENGINE_CRASH, "ended with 'boot-hang'"),
        ("boots truncates", Outcome.ENGINE_CRASH, "stats.txt is truncated"),
        ("boots has_no_region", Outcome.APPLICATION_FAILED, "marked no region"),
        ("boots stops", Outcome.ENGINE_CRASH, "asked to stop"),
    ],
)
def test_a_gem5_that_ends_badly(modes: str, outcome: Outcome, said: str, ground: Ground) -> None:
    with pytest.raises(Failure, match=said) as caught:
        ground.run(modes)
    assert caught.value.outcome is outcome
    assert caught.value.cure


def test_a_guest_that_says_nothing(ground: Ground) -> None:
    ground.silence = 0.1
    with pytest.raises(Failure, match="printed nothing for 1 s") as caught:
        ground.run("is_silent runs")
    assert caught.value.outcome is Outcome.BOOT_HANG


CARD = {"engine": "gem5", "machine": "small-2x2", "cores": "2", "workload": "micro:card-udp-echo"}


def test_a_gem5_that_can_have_no_card_is_not_given_one(ground: Ground) -> None:
    with pytest.raises(Failure, match=r"needs the network card, and .* was built for MOESI_hammer, which loses bytes") as caught:
        ground.run("boots runs", point=resolve(CARD))
    assert caught.value.outcome is Outcome.BAD_INPUT
    assert "load=loopback" in caught.value.cure


def test_which_gem5_can_have_a_card() -> None:
    ours = {**COMPLETE, "protocol": "MOESI_htassist"}
    assert gem5_binary.no_card({**ours, "objects": [*gem5_binary.OBJECTS, "NetworkCard"]}) == ""
    assert "lacks the SimObject NetworkCard" in gem5_binary.no_card(ours)
    assert "MOESI_hammer" in gem5_binary.no_card({**COMPLETE, "objects": [*gem5_binary.OBJECTS, "NetworkCard"]})


def test_a_card_goes_with_its_settings_and_has_checkpoints_of_its_own(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gem5_checkpoint, "build_model", lambda: ground.folder)
    (ground.folder / CARD_LIBRARY).write_bytes(b"a card")
    gem5 = Gem5(ground.program, "24.0.0.1", "MOESI_htassist", "binary-1", no_card="")
    with_card, without = (resolve({**CARD, "workload": one}) for one in (CARD["workload"], "micro:udp-send"))

    def command(point: Point) -> list[str | Path]:
        return gem5_checkpoint.simulate_command(gem5, "boot", point, ground.kernel, [ground.image.boot], ground.folder, [])

    words = command(with_card)
    settings_file = Path(words[words.index("--card-settings") + 1])
    assert settings_file.read_text(encoding="utf-8") == with_card.card_settings
    assert words[words.index("--card-library") + 1] == ground.folder / CARD_LIBRARY
    assert "--card-library" not in command(without)

    def made_from(point: Point) -> object:
        return gem5_checkpoint.inputs(point, ground.kernel, ground.image, gem5)["card"]

    before = made_from(with_card)
    assert made_from(without) is None
    assert made_from(resolve({**CARD, "set.nic_queues": "32"})) != before
    (ground.folder / CARD_LIBRARY).write_bytes(b"another card")
    assert made_from(with_card) != before


def test_statistics_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="left no statistics"):
        check_stats(tmp_path / "stats.txt")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, None),
        ({"protocol": "MOESI_htassist"}, None),
        ({"version": "24.1.0.0"}, "is version 24.1.0.0, not 24.0"),
        ({"version": ""}, "is version unknown"),
        ({"x86": False}, "without the x86"),
        ({"protocol": "MESI_Two_Level"}, "for the protocol MESI_Two_Level, not MOESI_hammer or MOESI_htassist"),
        ({"objects": ["X86ACPIRawTable"]}, "lacks the SimObject LineTap"),
        ({"objects": list(gem5_binary.OBJECTS[:-1])}, "lacks the parameter LineTap.chain_period"),
    ],
)
def test_what_a_gem5_lacks_is_named(changed: dict[str, object], said: str | None) -> None:
    missing = lacking({**COMPLETE, **changed})
    assert missing is None if said is None else missing is not None and said in missing


def test_the_settings_must_name_a_gem5(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "load", Settings)
    with pytest.raises(Failure, match="the settings name none"):
        base.engine("gem5").prepare()
    monkeypatch.setattr(settings, "load", lambda: Settings(gem5=tmp_path / "gem5.opt"))
    with pytest.raises(Failure, match=r"gem5\.opt, is not a program"):
        base.engine("gem5").prepare()
    monkeypatch.setenv("MOSBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(settings, "load", lambda: Settings(gem5=Path("/bin/true")))
    with pytest.raises(Failure, match="does not say what it is"):
        base.engine("gem5").prepare()
    assert gem5_binary.why_absent() is not None


def test_events_of_a_killed_process() -> None:
    text = 'warm\n@gem5 {"event": "mark", "mark": "end"}\n@gem5 {"event": "progr'
    assert [event["event"] for event in events(text)] == ["mark"]
    assert diagnosis(text) is None


def test_progress_tells_speed_and_time_left(tmp_path: Path) -> None:
    log = tmp_path / "gem5.log"
    note = Progress(log, expected=3e6)
    assert note(ConsoleReader(last_line="booting")) == "booting"
    log.write_text('@gem5 {"event": "progress", "phase": "boot", "instructions": 1000000, "wall_seconds": 60}\n@gem5 {"ev')
    assert note(ConsoleReader()) == "boot: 1 M instructions, 0.02 MIPS, about 2 min left"


def test_progress_of_a_region_is_told_from_its_warm_up(tmp_path: Path) -> None:
    log = tmp_path / "gem5.log"
    note = Progress(log, warm_ups=10)
    told = [("warm", 1_000_000, 30), ("warm", 2_000_000, 60), ("region", 7_000_000, 180)]
    lines = [f'@gem5 {{"event": "progress", "phase": "{p}", "instructions": {i}, "wall_seconds": {w}}}' for p, i, w in told]
    log.write_text("\n".join(lines) + "\n")
    # 20 M instructions are expected, 5 M are done in 2 minutes.
    assert note(ConsoleReader()) == "region: 5 M instructions, 0.04 MIPS, about 6 min left"
    with open(log, "a") as handle:
        handle.write('@gem5 {"event": "progress", "phase": "after", "instructions": 8000000, "wall_seconds": 280}\n')
    assert note(ConsoleReader()) == "after: 1 M instructions, 0.01 MIPS"


def test_progress_of_a_region_of_which_windows_are_measured(tmp_path: Path) -> None:
    log = tmp_path / "gem5.log"
    note = Progress(log)
    report = '@gem5 {"event": "progress", "phase": "%s", "instructions": %d, "wall_seconds": %d}\n'
    log.write_text(report % ("region", 2_000_000, 10))
    assert note(ConsoleReader()) == "region: 2 M instructions, 0.20 MIPS"
    with open(log, "a") as handle:
        handle.write('@gem5 {"event": "window", "measured": 1, "of": 6, "wall_seconds": 12}\n')
    assert note(ConsoleReader()) == "1 of 6 windows measured"
    with open(log, "a") as handle:
        handle.write(report % ("region", 3_000_000, 60))
    assert note(ConsoleReader()) == "region: 3 M instructions, 1 of 6 windows measured"
    with open(log, "a") as handle:
        handle.write(report % ("after", 5_000_000, 70))
    assert note(ConsoleReader()) == "after: 2 M instructions, 0.20 MIPS"


def test_one_command_line_for_all_jobs(ground: Ground) -> None:
    line = gem5_checkpoint.guest_command_line(ground.point)
    assert line.endswith("mosbench.engine=gem5 mosbench.job=readfile")
    assert "lpj=100000 " in line
