/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Builds the source tree in the working folder with make, as the region of interest, and checks what came out against `reference`
 * (hashes of every object and of the program, from a serial build) and `expected` (what the program prints).
 */
#define _GNU_SOURCE
#include "commands.h"
#include "roi.h"

static char jobs[32], compiler[64];

static void make(const char *target)
{
    const char *const arguments[] = {"make", "-s", jobs, compiler, target, NULL};

    errno = 0;
    if (!run_command(arguments))
        die("make %s failed", target);
}

/* What was built goes, its folders stay. */
static void empty_output(void)
{
    if (!run_shell("find out -type f -delete"))
        die("cannot empty the output folders");
}

/* A fault for tests: the first digit of a number in one source file becomes another. */
static void flip_byte(void)
{
    FILE *unit = fopen("src/0000/unit-0000.c", "r+");
    int c = EOF, digit = EOF;

    if (unit) {
        while ((c = getc(unit)) != EOF && c != '{') /* where the table of numbers begins */
            ;
        digit = getc(unit);
    }
    if (digit == EOF || fseek(unit, -1, SEEK_CUR) || putc(digit == '1' ? '2' : '1', unit) == EOF || fclose(unit))
        die("cannot damage src/0000/unit-0000.c");
}

int main(void)
{
    uint64_t objects = number_setting("P_OBJECTS"), begin, cycles;

    snprintf(jobs, sizeof(jobs), "-j%lu", 2 * number_setting("MOSBENCH_NCORES"));
    snprintf(compiler, sizeof(compiler), "CC=%s", text_setting("MOSBENCH_VARIANT"));
    fflush(NULL);

    empty_output();
    roi_warm();
    make("warm");
    empty_output();
    if (strcmp(text_setting("P_FAULT"), "flip-byte") == 0)
        flip_byte();
    roi_begin();
    begin = roi_cycles();
    make("out/program");
    cycles = roi_cycles() - begin;
    roi_end();

    bool same = run_shell("sha256sum --quiet -c reference");
    bool prints = run_shell("out/program | cmp -s - expected");
    struct roi_result result = {
        .units = objects,
        .unit = "objects",
        .cores = 1, /* make gives its jobs to any core: only the whole is known */
        .per_core = &objects,
        .cycles_per_core = &cycles,
        .checked = same && prints,
        .detail = !same    ? "objects differ from those of the serial build"
                  : prints ? "all objects are those of the serial build, and the program prints what it must"
                           : "the program prints another number than it must",
    };

    if (!roi_result(&result))
        die("cannot write the result");
    return 0;
}
