/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Builds the objects that the makefile in the working folder names, as the region of interest, and checks them against
 * `reference` (hashes of each).
 */
#define _GNU_SOURCE
#include "roi.h"
#include "workers.h"

static char jobs[32];

/* Run a command; true if it ended with status 0. */
static bool run(const char *const *arguments)
{
    int status;
    pid_t child = fork();

    if (child < 0)
        die("cannot fork");
    if (child == 0) {
        execvp(arguments[0], (char *const *)arguments);
        die("cannot execute %s", arguments[0]);
    }
    if (waitpid(child, &status, 0) != child)
        die("cannot wait for %s", arguments[0]);
    return status == 0;
}

static bool shell(const char *command)
{
    const char *const arguments[] = {"sh", "-c", command, NULL};

    return run(arguments);
}

static void make(const char *target)
{
    const char *const arguments[] = {"make", "-s", jobs, target, NULL};

    errno = 0;
    if (!run(arguments))
        die("make %s failed", target);
}

int main(void)
{
    uint64_t objects = number_setting("P_OBJECTS"), begin, cycles;

    snprintf(jobs, sizeof(jobs), "-j%lu", 2 * number_setting("MOSBENCH_NCORES"));
    fflush(NULL);

    roi_warm();
    make("warm"); /* the compiler's code and the headers */
    if (!shell("find out -type f -delete"))
        die("cannot empty the output folders");
    /* A fault for tests: the first source file has one variable more. */
    if (strcmp(text_setting("P_FAULT"), "add-variable") == 0 &&
        !shell("file=linux/$(head -n 1 objects | sed 's/o$/c/') && echo 'int mosbench_fault = 1;' >> \"$file\""))
        die("cannot damage a source file");
    roi_begin();
    begin = roi_cycles();
    make("all");
    cycles = roi_cycles() - begin;
    roi_end();

    bool same = shell("cd out && sha256sum --quiet -c ../reference");
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
