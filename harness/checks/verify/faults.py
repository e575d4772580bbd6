# SPDX-License-Identifier: BSD-3-Clause
"""Everything that can go wrong, provoked for real: is the outcome typed, is there one sentence and a cure, is nothing harmed?

Real guests on the small machine, `run.py run` as a process of its own. After each fault: the complete run that was there before
still is, no other folder counts as a run, and no process of an engine is left.
"""

import argparse
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from unittest import mock

from rich.table import Table
from rich.text import Text

from common.outcome import Failure, Outcome
from common.paths import REPOSITORY
from common.terminal import console
from harness.build import qemu_hooks
from harness.checks.registry import Check
from harness.checks.verify.measuring import keep, point, prepare_host, scratch
from harness.run import catalogue, run_directory, runner
from harness.spec.point import Point

NAME = "faults"
SUMMARY = "bad input, hangs, panics, failures, full disk, ctrl-C, kill -9: typed outcome, a sentence, a cure, no harm"

_BASE = "machine=small-2x2 * cores=4 * "
_GOOD = _BASE + "workload=micro:stat"
_OTHER = _GOOD + " * trial=2"
_HANG = _GOOD + ":fault=hang"
_LARGE = _BASE + "workload=micro:stream:bytes=33554432,iterations=4"
_LONG = _BASE + "workload=micro:stat:iterations=20011"
_SECONDS = 300.0  # for one command, on a busy host
_SAID = re.compile(r"^mosbench: ([a-z-]+): (.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Ended:
    """How a command ended: its exit status, and what it said (outcome and the sentences after it)."""

    status: int
    outcome: str
    said: str


@dataclass
class Ground:
    """Where faults are provoked: a folder with one complete run in it."""

    folder: Path
    complete: str = ""
    problems: list[str] = field(default_factory=list)

    @property
    def runs(self) -> Path:
        return self.folder / "runs"

    def command(self, *arguments: str, runs: Path | None = None) -> list[str]:
        return [sys.executable, "-m", "harness.cli", "run", *arguments, "--output", str(runs or self.runs)]


def _ended(status: int, errors: str) -> Ended:
    found = _SAID.findall(errors)
    outcome, said = found[-1] if found else ("none", (errors.strip().splitlines() or ["nothing"])[-1])
    return Ended(status, outcome, said)


def run_command(command: Sequence[str], environment: Mapping[str, str] | None = None) -> Ended:
    """Run to the end."""
    done = subprocess.run(command, cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=False, timeout=_SECONDS)
    return _ended(done.returncode, done.stderr)


def engines_in(folder: Path) -> list[int]:
    """Process numbers of the emulators whose command line names something in ``folder``."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if b"qemu-system" in words[0] and any(os.fsencode(folder) in word for word in words[1:]):
                found.append(int(entry.name))
    return found


def wait_for(what: Callable[[], bool], seconds: float = _SECONDS) -> bool:
    """Whether ``what`` came true in time."""
    end = time.monotonic() + seconds
    while not (there := what()) and time.monotonic() < end:
        time.sleep(0.05)
    return there


# ---- faults: each returns how it ended ----


def unknown_workload(ground: Ground) -> Ended:
    return run_command(ground.command(_BASE + "workload=mikro:stat"))


def unknown_machine_key(ground: Ground) -> Ended:
    return run_command(ground.command(_GOOD + " * set.l9_kib=1"))


def too_many_cores(ground: Ground) -> Ended:
    return run_command(ground.command("workload=micro:stat * cores=49"))


def missing_tools(ground: Ground) -> Ended:
    """A PATH with nothing in it."""
    return run_command(ground.command(_GOOD), {**os.environ, "PATH": str(ground.folder / "no-such-folder")})


def missing_compiler(ground: Ground) -> Ended:
    """A PATH with everything but a compiler, whose package is installed all the same."""
    tools = ground.folder / "tools"
    tools.mkdir(exist_ok=True)
    for folder in ("/usr/bin", "/bin", "/usr/sbin", "/sbin"):
        for tool in Path(folder).iterdir():
            if not re.match(r"(x86_64-linux-gnu-)?(gcc|g\+\+|cc|c\+\+)", tool.name) and not (tools / tool.name).exists():
                (tools / tool.name).symlink_to(tool)
    return run_command(ground.command(_GOOD), {**os.environ, "PATH": str(tools)})


def other_qemu(ground: Ground) -> Ended:
    """A source tree of QEMU 8.2."""
    tree = ground.folder / "qemu-8.2"
    tree.mkdir()
    (tree / "VERSION").write_text("8.2.0\n")
    return _caught(lambda: qemu_hooks.apply(tree))


def boot_hang(ground: Ground) -> Ended:
    """A kernel that loops at its first instruction."""
    wanted = point(_OTHER)
    builds = runner.prepare(wanted)
    kernel = ground.folder / "looping-kernel"
    kernel.write_bytes(looping_kernel())
    settings = ground.folder / "settings.toml"
    settings.write_text("boot_silence_seconds = 5\n")
    broken = replace(builds, kernel=replace(builds.kernel, bzimage=kernel))
    with mock.patch.dict(os.environ, {"MOSBENCH_SETTINGS": str(settings)}):
        return _caught(lambda: runner.run_point(wanted, ground.runs, builds=broken))


def looping_kernel() -> bytes:
    """The smallest bzImage that a boot loader takes: its entry point is a jump to itself, its protected-mode part empty."""
    image = bytearray(5 * 512 + 4096)
    image[0x1F1] = 4  # sectors of the real-mode part, after the first
    image[0x1FE:0x200] = b"\x55\xaa"
    image[0x200:0x202] = b"\xeb\xfe"  # jmp to here
    image[0x202:0x206] = b"HdrS"
    image[0x206:0x208] = (0x0204).to_bytes(2, "little")  # boot protocol 2.04
    image[0x211] = 1  # loaded high
    return bytes(image)


def _caught(body: Callable[[], object]) -> Ended:
    try:
        body()
    except Failure as failure:
        return Ended(failure.outcome.exit_status, failure.outcome.value, f"{failure.what} {failure.cure}")
    return Ended(0, "none", "nothing")


def region_hang(ground: Ground) -> Ended:
    """The guest loops in the region; 20 seconds are allowed for it all."""
    settings = ground.folder / "settings-short.toml"
    settings.write_text("run_seconds = 20\n")
    return run_command(ground.command(_HANG), {**os.environ, "MOSBENCH_SETTINGS": str(settings)})


def disk_full(ground: Ground) -> Ended:
    """Run directories on a file system of 64 MiB beside a complete run; the engine's snapshot of guest memory is larger."""
    small = ground.folder / "small-disk"
    small.mkdir()
    listing = ground.folder / "small-disk.list"
    look = (
        "from harness.run import catalogue; from pathlib import Path; "
        f"root = Path({str(small)!r}); Path({str(listing)!r}).write_text("
        "' '.join(p.name for p in catalogue.complete_runs(root)) + '\\n' + ' '.join(sorted(p.name for p in root.iterdir())))"
    )
    script = (
        f'mount -t tmpfs -o size=64m none "{small}" && cp -a "{ground.runs / ground.complete}" "{small}" || exit 99; '
        f'"$@"; status=$?; "{sys.executable}" -c "$LOOK"; exit $status'
    )
    command = ground.command(_LARGE, runs=small)
    unshare = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh", *command]
    ended = run_command(unshare, {**os.environ, "LOOK": look})
    complete, _, names = listing.read_text().partition("\n") if listing.exists() else ("", "", "")
    if complete.split() != [ground.complete]:
        ground.problems.append(f"disk full: complete runs are {complete or 'none'}, in {names or 'nothing'}")
    return ended


@contextmanager
def _running(ground: Ground, text: str) -> Iterator[subprocess.Popen[str]]:
    """`run.py run` of a point whose guest is in the region when the body begins."""
    # What was started in the background ignores SIGINT, and so would all that it starts.
    command = ["env", "--default-signal=INT", *ground.command(text)]
    process = subprocess.Popen(
        command, cwd=REPOSITORY, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
    )

    def in_region() -> bool:
        return process.poll() is not None or any(
            b'"mark":"begin"' in log.read_bytes() for log in ground.runs.glob(".*.part/console.log")
        )

    try:
        if not wait_for(in_region) or not engines_in(ground.runs):
            ground.problems.append(f"{text}: the guest did not reach its region")
        yield process
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def _signalled(ground: Ground, text: str, number: signal.Signals) -> Ended:
    with _running(ground, text) as process:
        process.send_signal(number)
        _, errors = process.communicate(timeout=60)
        return _ended(process.returncode, errors)


def control_c(ground: Ground) -> Ended:
    """SIGINT, as the terminal sends it, in the region."""
    return _signalled(ground, _HANG, signal.SIGINT)


def kill_9(ground: Ground) -> Ended:
    """SIGKILL in the region; then the same command again, which must say what it found, and complete."""
    ended = _signalled(ground, _LONG, signal.SIGKILL)
    if not wait_for(lambda: not engines_in(ground.runs), 10):
        ground.problems.append("kill -9: an engine outlived the command by 10 s")
    if len(catalogue.complete_runs(ground.runs)) != 1:
        ground.problems.append("kill -9: what is left counts as a run")
    again = subprocess.run(ground.command(_LONG), cwd=REPOSITORY, capture_output=True, text=True, check=False, timeout=_SECONDS)
    aside = re.search(r"A run that was cut off is now (\S+-broken-\d+|\S+\.broken-\d+)\.", " ".join(again.stdout.split()))
    if again.returncode != 0 or not aside:
        ground.problems.append(f"kill -9: the command again ended with {again.returncode} and said {again.stdout.strip()!r}")
    made = ground.runs / point(_LONG).id
    if not made.is_dir() or run_directory.fault(made):
        ground.problems.append("kill -9: the command again left no complete run")
    else:
        run_directory.set_aside(made, "tested")
    return Ended(ended.status, ended.outcome, again.stdout.strip().splitlines()[0] if again.stdout.strip() else "nothing")


def engine_killed(ground: Ground) -> Ended:
    """The engine's process dies in the region."""
    with _running(ground, _HANG) as process:
        for engine in engines_in(ground.runs):
            os.kill(engine, signal.SIGSEGV)
        _, errors = process.communicate(timeout=60)
        return _ended(process.returncode, errors)


@dataclass(frozen=True)
class Fault:
    """One fault and the outcome that it must have; None where the command itself is killed and can say nothing."""

    title: str
    provoke: Callable[[Ground], Ended]
    outcome: Outcome | None
    points: Sequence[str] = ()
    """What it starts guests of."""


def of_guest(title: str, fault: str, outcome: Outcome) -> Fault:
    """The microbenchmark makes the guest fail."""
    text = f"{_GOOD}:fault={fault}"
    return Fault(title, lambda ground: run_command(ground.command(text)), outcome, (text,))


FAULTS = (
    Fault("unknown workload", unknown_workload, Outcome.BAD_INPUT),
    Fault("unknown machine key", unknown_machine_key, Outcome.BAD_INPUT),
    Fault("more cores than the machine", too_many_cores, Outcome.BAD_INPUT),
    Fault("no tools at all", missing_tools, Outcome.BAD_INPUT),
    Fault("no compiler", missing_compiler, Outcome.BAD_INPUT),
    Fault("QEMU source of another version", other_qemu, Outcome.BAD_INPUT),
    Fault("boot that hangs", boot_hang, Outcome.BOOT_HANG, (_OTHER,)),
    of_guest("guest panic", "panic", Outcome.GUEST_PANIC),
    of_guest("application fails", "fail", Outcome.APPLICATION_FAILED),
    of_guest("wrong result", "wrong-result", Outcome.WRONG_RESULT),
    Fault("guest hangs in the region", region_hang, Outcome.TIMEOUT, (_HANG,)),
    Fault("engine dies", engine_killed, Outcome.ENGINE_CRASH, (_HANG,)),
    Fault("disk full", disk_full, Outcome.DISK_FULL, (_LARGE,)),
    Fault("ctrl-C", control_c, Outcome.INTERRUPTED, (_HANG,)),
    Fault("kill -9", kill_9, None, (_LONG, _LONG)),
)


def shortcomings(fault: Fault, ended: Ended) -> list[str]:
    """What is wrong with the way a fault was told."""
    if fault.outcome is None:
        return [] if ended.status == -signal.SIGKILL else [f"{fault.title}: status {ended.status}"]
    found = []
    if ended.outcome != fault.outcome.value:
        found.append(f"{fault.title}: outcome {ended.outcome} instead of {fault.outcome.value}: {ended.said}")
    elif ended.status != fault.outcome.exit_status:
        found.append(f"{fault.title}: exit status {ended.status} instead of {fault.outcome.exit_status}")
    elif len(re.findall(r"\S.*?[.!?)](?:\s|$)", ended.said)) < 2:
        found.append(f"{fault.title}: no sentence and cure: {ended.said}")
    return found


def harm(fault: Fault, ground: Ground) -> list[str]:
    """What a fault has broken: complete runs lost or invented, engines left."""
    found = []
    if [path.name for path in catalogue.complete_runs(ground.runs)] != [ground.complete]:
        found.append(f"{fault.title}: complete runs are now {[path.name for path in catalogue.complete_runs(ground.runs)]}")
    if not wait_for(lambda: not engines_in(ground.folder), 10):
        found.append(f"{fault.title}: an engine is left: {engines_in(ground.folder)}")
    return found


def planned(_: argparse.Namespace) -> list[Point]:
    """What `run` starts guests of: the run that must come to no harm, then those of the faults."""
    return [point(text) for text in (_GOOD, *(text for fault in FAULTS for text in fault.points))]


def run(arguments: argparse.Namespace) -> Check:
    """Provoke every fault, print what was said of each."""
    prepare_host()
    table = Table("fault", "outcome", "said", title="Faults provoked", title_justify="left", show_lines=True)
    problems: list[str] = []
    with scratch(NAME) as folder:
        ground = Ground(folder)
        ground.complete = runner.run_point(point(_GOOD), ground.runs).folder.name
        for fault in FAULTS:
            ended = fault.provoke(ground)
            wrong = [*shortcomings(fault, ended), *ground.problems, *harm(fault, ground)]
            ground.problems.clear()
            problems += wrong
            outcome = "killed" if fault.outcome is None else ended.outcome
            said = ended.said.replace(str(folder), "FOLDER")
            table.add_row(fault.title, Text(outcome, "red" if wrong else ""), Text(said))  # what was said is no markup
            sys.stderr.write(f"{fault.title}: {'; '.join(wrong) or 'as it must be'}\n")
        if problems:
            keep(folder)
    console().print(table)
    for problem in problems:
        print(problem)
    figure = f"{NAME}: {len(FAULTS)} faults provoked, {len(problems)} shortcomings; wanted: 0"
    return Check(not problems, figure, len(FAULTS))
