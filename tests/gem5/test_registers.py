# SPDX-License-Identifier: BSD-3-Clause
"""Processes that take turns on one core keep their SSE registers, which gem5 gives no trap to save late."""

import subprocess
from pathlib import Path

import pytest

from common.json_files import read_json
from harness.build import own_program
from harness.build.own_program import OwnProgram
from harness.checks.verify.measuring import point
from harness.run import runner
from harness.spec.kernel import default_source

pytestmark = pytest.mark.gem5

_SOURCE = r"""// SPDX-License-Identifier: BSD-3-Clause
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROCESSES 4
#define TURNS 50

/* The system call `number`, between setting each byte of a register to `value` and reading the register. */
static long with_register(int number, unsigned char value, unsigned char bytes[16])
{
    long answer = number;
    unsigned char set[16];

    memset(set, value, sizeof(set));
    asm volatile("movups %[set], %%xmm9\n\tsyscall\n\tmovups %%xmm9, %[got]"
                 : "+a"(answer), [got] "=m"(*(unsigned char (*)[16])bytes)
                 : [set] "m"(*(unsigned char (*)[16])set)
                 : "rcx", "r11", "xmm9", "memory");
    return answer;
}

static void expect(const unsigned char bytes[16], unsigned char value, const char *when)
{
    for (int i = 0; i < 16; i++)
        if (bytes[i] != value) {
            printf("byte %d is %#x and not %#x %s\n", i, bytes[i], value, when);
            exit(1);
        }
}

static void disturb(int signal)
{
    unsigned char bytes[16];

    (void)signal;
    with_register(SYS_sched_yield, 0xee, bytes);
    expect(bytes, 0xee, "in a handler");
}

static int take_turns(unsigned char value)
{
    unsigned char bytes[16];

    for (int turn = 0; turn < TURNS; turn++) {
        with_register(SYS_sched_yield, value, bytes);
        expect(bytes, value, "after a turn of others");
    }
    const long child = with_register(SYS_fork, value, bytes);
    expect(bytes, value, child ? "after a fork" : "in the child");
    if (child == 0)
        _exit(0);
    with_register(SYS_sched_yield, value + 0x40, bytes);
    expect(bytes, value + 0x40, "where the child may have run");
    asm volatile("movups %0, %%xmm10" ::"m"(*(unsigned char (*)[16])bytes) : "xmm10");
    raise(SIGUSR1); /* the handler's register is another one's */
    wait(NULL);
    return 0;
}

int main(void)
{
    cpu_set_t one;
    int failed = 0, status;

    CPU_ZERO(&one);
    CPU_SET(0, &one);
    if (sched_setaffinity(0, sizeof(one), &one))
        return 1;
    signal(SIGUSR1, disturb);
    for (int i = 0; i < PROCESSES; i++)
        if (fork() == 0)
            exit(take_turns((unsigned char)(i + 1)));
    for (int i = 0; i < PROCESSES; i++)
        failed |= wait(&status) < 0 || status != 0;
    return failed;
}
"""


@pytest.mark.parametrize("source", [default_source(), pytest.param("linux-2.6.35", marks=pytest.mark.linux_2_6_35)])
def test_a_process_keeps_its_registers(source: str, tmp_path: Path) -> None:
    (tmp_path / "turns.c").write_text(_SOURCE, encoding="utf-8")
    program = tmp_path / "turns"
    subprocess.run(["gcc", "-O1", "-static", "-Wall", "-Wextra", "-o", program, tmp_path / "turns.c"], check=True)
    folder = own_program.folder(OwnProgram(str(program), region="whole"))
    wanted = point(f'engine=gem5 * machine=small-2x2 * set.node_mib=256 * cores=2 * workload="{folder}" * kernel={source}:stock')
    ran = runner.run_point(wanted, tmp_path / "runs")  # which fails where the program does
    assert read_json(ran.folder / "metrics.json")["units"] >= 1
