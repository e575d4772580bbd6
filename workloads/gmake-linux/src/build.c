/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Builds the objects that the makefile in the working folder names, as the region of interest, and checks them against
 * `reference` (hashes of each).
 */
#define _GNU_SOURCE
#include "commands.h"
#include "roi.h"

static char jobs[32];

static void make(const char *target)
{
    const char *const arguments[] = {"make", "-s", jobs, target, NULL};

    errno = 0;
    if (!run_command(arguments))
        die("make %s failed", target);
}

int main(void)
{
    uint64_t objects = number_setting("P_OBJECTS"), begin, cycles;

    snprintf(jobs, sizeof(jobs), "-j%lu", 2 * number_setting("MOSBENCH_NCORES"));
    fflush(NULL);

    roi_warm();
    make("warm"); /* the compiler's code and the headers */
    if (!run_shell("find out -type f -delete"))
        die("cannot empty the output folders");
    /* A fault for tests: the first source file has one variable more. */
    if (strcmp(text_setting("P_FAULT"), "add-variable") == 0 &&
        !run_shell("file=linux/$(head -n 1 objects | sed 's/o$/c/') && echo 'int mosbench_fault = 1;' >> \"$file\""))
        die("cannot damage a source file");
    roi_begin();
    begin = roi_cycles();
    make("all");
    cycles = roi_cycles() - begin;
    roi_end();

    bool same = run_shell("cd out && sha256sum --quiet -c ../reference");
    struct roi_result result = {
        .units = objects,
        .unit = "objects",
        .cores = 1, /* make gives its jobs to any core: only the whole is known */
        .per_core = &objects,
        .cycles_per_core = &cycles,
        .checked = same,
        .detail = same ? "all objects have the hashes that they must have" : "objects differ from what they must be",
    };

    if (!roi_result(&result))
        die("cannot write the result");
    return 0;
}
