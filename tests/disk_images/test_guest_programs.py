# SPDX-License-Identifier: BSD-3-Clause
"""roi.h, the roi command and init, compiled as for the image and run on the host."""

import json
import subprocess
import zlib
from pathlib import Path

import pytest

from common.outcome import Failure
from common.paths import REPOSITORY
from harness.build import guest_programs
from harness.run.console import parse_line

_GUEST = REPOSITORY / "disk-images/guest"


def _compile(source: Path, program: Path) -> Path:
    subprocess.run(guest_programs.compile_command(source, program), check=True)
    return program


@pytest.fixture(scope="module")
def roi(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _compile(_GUEST / "roi.c", tmp_path_factory.mktemp("roi") / "roi")


def _run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("identifier", [1, 2, 3])
def test_each_mark_is_there_once(roi: Path, identifier: int) -> None:
    assert roi.read_bytes().count(bytes([0x0F, 0x1F, 0x80, identifier, 0, 0xED, 0x5E])) == 1


@pytest.mark.parametrize("mark", ["warm", "begin", "end"])
def test_marks_are_harmless_and_silent(roi: Path, mark: str) -> None:
    done = _run(roi, mark)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_result_is_a_line_that_the_harness_reads(roi: Path) -> None:
    event = {"units": 23, "unit": "operations", "per_core": [11, 12], "checked": True, "detail": "fine"}
    done = _run(roi, "result", json.dumps(event))
    assert done.returncode == 0
    assert parse_line(done.stdout.strip("\n")) == {"event": "result", **event}


@pytest.mark.parametrize("arguments", [(), ("start",), ("result",), ("result", "[]"), ("result", "{\n}"), ("warm", "begin")])
def test_wrong_use(roi: Path, arguments: tuple[str, ...]) -> None:
    done = _run(roi, *arguments)
    assert done.returncode == 2
    assert "roi" in done.stderr
    assert done.stdout == ""


def test_results_and_checksums_from_c(tmp_path: Path) -> None:
    source = tmp_path / "program.c"
    source.write_text(
        r"""
#define _GNU_SOURCE
#include "roi.h"
int main(void)
{
    uint64_t units[] = {1, 2, 18446744073709551615ull}, cycles[] = {10, 20, 30};
    struct roi_result result = {.units = 3, .unit = "connections", .cores = 3, .per_core = units, .cycles_per_core = cycles,
                                    .checked = false, .detail = "said \"no\"\nand\\left"};

    printf("%08x\n", (unsigned)roi_crc32("123456789", 9));
    printf("%d\n", roi_cycles() < roi_cycles());
    return !roi_result(&result);
}
"""
    )
    done = _run(_compile(source, tmp_path / "program"))
    crc, ordered, _, line = done.stdout.splitlines()
    assert int(crc, 16) == zlib.crc32(b"123456789")
    assert ordered == "1"
    assert parse_line(line) == {
        "event": "result",
        "units": 3,
        "unit": "connections",
        "per_core": [1, 2, 2**64 - 1],
        "cycles_per_core": [10, 20, 30],
        "checked": False,
        "detail": "said  no  and left",
    }


_PARKED = r"""
#define _GNU_SOURCE
#include "roi.h"
#include "workers.h"
#include <pthread.h>
static struct parking_place *place;
static void work(unsigned index, void *argument)
{
    (void)argument;
    if (index == WHO_FAILS)
        _exit(3);
    park(place);
}
static void *thread_main(void *argument)
{
    (void)argument;
    park(place);
}
int main(int count, char **arguments)
{
    pid_t children[3];
    pthread_t thread;
    (void)arguments;
    place = (struct parking_place *)shared_memory(sizeof(*place));
    open_parking(place, 3);
    if (count == 2) {
        for (int i = 0; i < 3; i++)
            pthread_create(&thread, NULL, thread_main, NULL);
        wait_for_parked(place, NULL);
    } else {
        start_processes(children, 3, work, NULL);
        wait_for_parked(place, children);
    }
    printf("%u parked\n", place->parked);
    roi_done();
}
"""


@pytest.mark.parametrize("threads", [False, True])
def test_workers_are_parked_and_not_ended(threads: bool, tmp_path: Path) -> None:
    source = tmp_path / "parked.c"
    source.write_text(_PARKED.replace("WHO_FAILS", "99"))
    made = _compile(source, tmp_path / "program")
    done = subprocess.run([made, *["threads"] * threads], capture_output=True, text=True, timeout=20, check=True)
    assert done.stdout == "3 parked\n"


def test_a_worker_that_ends_is_told(tmp_path: Path) -> None:
    source = tmp_path / "parked.c"
    source.write_text(_PARKED.replace("WHO_FAILS", "1"))
    made = _compile(source, tmp_path / "program")
    done = subprocess.run([made], capture_output=True, text=True, timeout=20, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert "a worker ended with wait status 0x300" in done.stderr


_CPP = r"""
#include "roi.h"
#include "workers.h"
#include <string>
#include <thread>
#include <vector>
struct alignas(64) Counter {
    uint64_t additions = 0;
};
int main()
{
    std::vector<Counter> counters(2);
    std::vector<std::thread> threads;
    roi_begin();
    for (auto &one : counters)
        threads.emplace_back([&one] { one.additions += 23; });
    for (auto &thread : threads)
        thread.join();
    roi_end();
    std::vector<uint64_t> per_core{counters[0].additions, counters[1].additions};
    const std::string detail = "in " + std::to_string(threads.size()) + " threads";
    struct roi_result result = {};
    result.units = 46;
    result.unit = "additions";
    result.cores = 2;
    result.per_core = per_core.data();
    result.checked = per_core[0] + per_core[1] == 46;
    result.detail = detail.c_str();
    return roi_result(&result) ? 0 : 1;
}
"""


@pytest.mark.parametrize(("name", "libraries"), [("adder.cc", None), ("adder/main.cxx", "z")])
def test_a_program_in_cpp(name: str, libraries: str | None, tmp_path: Path) -> None:
    file = tmp_path / "src" / name
    file.parent.mkdir(parents=True)
    file.write_text(_CPP)
    if libraries is not None:
        (file.parent / "libraries.txt").write_text(libraries)
    assert [one.name for one in guest_programs.languages(tmp_path)] == ["C++"]
    (program,) = guest_programs.sources_of(tmp_path)
    assert program == "adder"
    made = _compile(guest_programs.sources_of(tmp_path)[program], tmp_path / "program")
    assert str(tmp_path).encode() not in made.read_bytes()
    assert b"libstdc++.so" not in made.read_bytes()
    done = _run(made)
    event = parse_line(done.stdout.splitlines()[-1])
    assert event == {
        "event": "result", "units": 46, "unit": "additions", "per_core": [23, 23], "checked": True, "detail": "in 2 threads",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["a.c", "a.cc"], r"a\.c and .*a\.cc are the program a"),
        (["a/one.c", "a/two.cc"], r"src/a has files in C and in C\+\+"),
        (["a.c", "a/one.cc"], "are the program a"),
    ],
)
def test_programs_that_are_told_apart_by_nothing(names: list[str], said: str, tmp_path: Path) -> None:
    for name in names:
        file = tmp_path / "src" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("")
    with pytest.raises(Failure, match=said):
        guest_programs.sources_of(tmp_path)


def test_init_runs_as_process_1_only(tmp_path: Path) -> None:
    done = _run(_compile(_GUEST / "init.c", tmp_path / "init"))
    assert done.returncode == 2
    assert "process 1" in done.stderr
