/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Making and ending processes. Workers are processes; their children run on the same core.
 */
#define _GNU_SOURCE
#include "micro.h"

static void fork_exit_work(struct worker *worker, uint64_t iterations)
{
    for (uint64_t i = 0; i < iterations; i++) {
        int status = 0, wanted = (int)(worker->sums[0]++ % 251);
        pid_t child = fork();

        if (child == 0)
            _exit(wanted);
        EXPECT(worker, child > 0, "fork failed", child);
        if (child > 0)
            EXPECT(worker, waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == wanted,
                   "a child ended with another status", status);
    }
    worker->units += iterations;
}

static void fork_exit_finish(void)
{
    check("children", sum_of(0), total_iterations());
}

const struct benchmark process_benchmarks[] = {
    {
        .name = "fork-exit",
        .unit = "children",
        .processes = true,
        .work = fork_exit_work,
        .finish = fork_exit_finish,
    },
    {.name = NULL},
};
