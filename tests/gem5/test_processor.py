# SPDX-License-Identifier: BSD-3-Clause
"""Programs that look at what gem5's processors do for them.

Processes that take turns on one core keep their SSE registers, which gem5 gives no trap to save late. Code that changes, or is
another in another process at the same address, is executed as it is: all processors share what they have decoded. Registers are
exchanged by each encoding of XCHG. What is stored past the caches is there, for the core and for others.
"""

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

_TURNS = r"""// SPDX-License-Identifier: BSD-3-Clause
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

_CHANGES = r"""// SPDX-License-Identifier: BSD-3-Clause
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROCESSES 2
#define TIMES 20
#define PIECE 8 /* bytes that a decoder fetches at a time */
#define PLACE ((unsigned char *)0x20000000)

/* Put a function at `code` that returns `value`, by an instruction of 5, 6, 10 or 11 bytes. */
static void write_function(unsigned char *code, int kind, uint64_t value)
{
    if (kind % 2)
        *code++ = 0x3e; /* a prefix without effect */
    if (kind / 2)
        *code++ = 0x48;
    *code++ = 0xb8; /* mov $value, %eax or, after 0x48, %rax */
    memcpy(code, &value, kind / 2 ? 8 : 4);
    code[kind / 2 ? 8 : 4] = 0xc3;
}

static int change(uint64_t process)
{
    if (mmap(PLACE, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != PLACE)
        return 1;
    /* From turn to turn only the value's second byte changes, which at some places is not in the instruction's first piece. */
    for (int kind = 0; kind < 4; kind++)
        for (int at = 0; at < PIECE; at++)
            for (uint64_t turn = 0; turn < TIMES; turn++) {
                uint64_t value = process << 16 | turn << 8 | (unsigned)(kind * PIECE + at);
                uint64_t found;

                if (kind / 2)
                    value |= value << 32;
                write_function(PLACE + at, kind, value);
                asm volatile("cpuid" : : "a"(0) : "rbx", "rcx", "rdx", "memory");
                found = ((uint64_t(*)(void))(PLACE + at))();
                if (found != value) {
                    printf("process %lu: %#lx and not %#lx\n", process, found, value);
                    return 1;
                }
            }
    return 0;
}

int main(void)
{
    int failed = 0, status;

    for (int i = 0; i < PROCESSES; i++)
        if (fork() == 0) {
            cpu_set_t one;

            CPU_ZERO(&one);
            CPU_SET(i, &one);
            exit(sched_setaffinity(0, sizeof(one), &one) ? 1 : change((uint64_t)i + 1));
        }
    for (int i = 0; i < PROCESSES; i++)
        failed |= wait(&status) < 0 || status != 0;
    return failed;
}
"""

_EXCHANGES = r"""// SPDX-License-Identifier: BSD-3-Clause
#include <stdint.h>
#include <stdio.h>

#define WHOLE 0x1122334455667788u

static int failed;

static void expect(const char *what, uint64_t found, uint64_t wanted)
{
    if (found != wanted) {
        printf("%s: %#lx and not %#lx\n", what, found, wanted);
        failed = 1;
    }
}

int main(void)
{
    register uint64_t other asm("r8") = 2 * WHOLE;
    uint64_t value = WHOLE;

    /* Written as bytes: an assembler may take another encoding. */
    asm(".byte 0x49, 0x90" : "+a"(value), "+r"(other));
    expect("rax, exchanged with r8", value, 2 * WHOLE);
    expect("r8, exchanged with rax", other, WHOLE);
    asm(".byte 0x90" : "+a"(value));
    expect("rax after a NOP", value, 2 * WHOLE);
    value = WHOLE;
    asm(".byte 0x48, 0x87, 0xdb" : "+b"(value));
    expect("rbx, exchanged with itself", value, WHOLE);
    asm(".byte 0x66, 0x87, 0xdb" : "+b"(value));
    expect("bx, exchanged with itself", value, WHOLE);
    asm(".byte 0x86, 0xdb" : "+b"(value));
    expect("bl, exchanged with itself", value, WHOLE);
    asm(".byte 0x87, 0xdb" : "+b"(value));
    expect("ebx, exchanged with itself", value, (uint32_t)WHOLE);
    value = WHOLE;
    asm(".byte 0x86, 0xdf" : "+b"(value));
    expect("bl, exchanged with bh", value, 0x1122334455668877u);
    return failed;
}
"""


_PAST_CACHES = r"""// SPDX-License-Identifier: BSD-3-Clause
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define TURNS 20
#define LINES 96
#define WORDS 8 /* of a line */

static struct shared {
    uint64_t lines[LINES][WORDS] __attribute__((aligned(64)));
    volatile uint64_t written __attribute__((aligned(64)));
    volatile uint64_t read __attribute__((aligned(64)));
} *shared;

static uint64_t value(uint64_t turn, int line, int word)
{
    return turn << 32 | (uint64_t)(line * WORDS + word);
}

static void past_caches(uint64_t *where, uint64_t what)
{
    asm volatile("movnti %1, %0" : "=m"(*where) : "r"(what));
}

static void past_caches_twice(uint64_t *where, uint64_t first, uint64_t second)
{
    const uint64_t both[2] = {first, second};

    asm volatile("movups %1, %%xmm0\n\tmovntps %%xmm0, %0"
                 : "=m"(*(uint64_t (*)[2])where)
                 : "m"(*(const uint64_t (*)[2])both)
                 : "xmm0");
}

static void expect(uint64_t turn, int line, int word, const char *who)
{
    const uint64_t found = shared->lines[line][word], wanted = value(turn, line, word);

    if (found != wanted) {
        printf("%s: word %d of line %d is %#lx and not %#lx\n", who, word, line, found, wanted);
        exit(1);
    }
}

/* Lines whole and in part, forwards, backwards and with holes, some with a store of another kind before or between. */
static void write_line(uint64_t turn, int line)
{
    uint64_t *const words = shared->lines[line];

    switch ((line + turn) % 6) {
    case 0:
        for (int word = 0; word < WORDS; word++)
            past_caches(words + word, value(turn, line, word));
        break;
    case 1:
        for (int word = WORDS - 1; word >= 0; word--)
            past_caches(words + word, value(turn, line, word));
        break;
    case 2:
        for (int word = 0; word < WORDS; word += 2)
            past_caches(words + word, value(turn, line, word));
        for (int word = 1; word < WORDS; word += 2)
            past_caches(words + word, value(turn, line, word));
        break;
    case 3:
        for (int word = 0; word < WORDS; word++)
            *(volatile uint64_t *)(words + word) = value(turn, line, word);
        past_caches(words + 3, 0);
        past_caches(words + 3, value(turn, line, 3));
        expect(turn, line, 3, "who writes");
        expect(turn, line, 4, "who writes");
        break;
    case 4:
        for (int word = 0; word < WORDS; word += 2)
            past_caches_twice(words + word, value(turn, line, word), value(turn, line, word + 1));
        break;
    default:
        past_caches(words, value(turn, line, 0));
        for (int word = 1; word < WORDS; word++)
            *(volatile uint64_t *)(words + word) = value(turn, line, word);
    }
}

static int write_all(void)
{
    for (uint64_t turn = 1; turn <= TURNS; turn++) {
        for (int line = 0; line < LINES; line++)
            write_line(turn, line);
        asm volatile("sfence" : : : "memory");
        shared->written = turn;
        for (int line = 0; line < LINES; line++)
            for (int word = 0; word < WORDS; word++)
                expect(turn, line, word, "who wrote");
        while (shared->read != turn)
            ;
    }
    return 0;
}

static int read_all(void)
{
    for (uint64_t turn = 1; turn <= TURNS; turn++) {
        while (shared->written != turn)
            ;
        for (int line = 0; line < LINES; line++)
            for (int word = 0; word < WORDS; word++)
                expect(turn, line, word, "another core");
        shared->read = turn;
    }
    return 0;
}

int main(void)
{
    int failed = 0, status;

    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return 1;
    for (int i = 0; i < 2; i++)
        if (fork() == 0) {
            cpu_set_t one;

            CPU_ZERO(&one);
            CPU_SET(i, &one);
            exit(sched_setaffinity(0, sizeof(one), &one) ? 1 : i ? read_all() : write_all());
        }
    for (int i = 0; i < 2; i++)
        failed |= wait(&status) < 0 || status != 0;
    return failed;
}
"""


def _run(source: str, kernel: str, place: Path) -> None:
    """Run a program on two cores of gem5; the run fails where the program does."""
    (place / "program.c").write_text(source, encoding="utf-8")
    program = place / "program"
    subprocess.run(["gcc", "-O1", "-static", "-Wall", "-Wextra", "-o", program, place / "program.c"], check=True)
    folder = own_program.folder(OwnProgram(str(program), region="whole"))
    text = f'engine=gem5 * machine=small-2x2 * set.node_mib=256 * cores=2 * workload="{folder}" * kernel={kernel}:stock'
    ran = runner.run_point(point(text), place / "runs")
    assert read_json(ran.folder / "metrics.json")["units"] >= 1


@pytest.mark.parametrize("kernel", [default_source(), pytest.param("linux-2.6.35", marks=pytest.mark.linux_2_6_35)])
def test_a_process_keeps_its_registers(kernel: str, tmp_path: Path) -> None:
    _run(_TURNS, kernel, tmp_path)


def test_code_that_changes_is_executed_as_it_is(tmp_path: Path) -> None:
    _run(_CHANGES, default_source(), tmp_path)


def test_registers_are_exchanged(tmp_path: Path) -> None:
    _run(_EXCHANGES, default_source(), tmp_path)


def test_what_is_stored_past_the_caches_is_there(tmp_path: Path) -> None:
    _run(_PAST_CACHES, default_source(), tmp_path)
