/* SPDX-License-Identifier: BSD-3-Clause
 *
 * For programs of the guest that run other programs and wait for them.
 */
#ifndef MOSBENCH_COMMANDS_H
#define MOSBENCH_COMMANDS_H

#include <stdbool.h>

#include "workers.h"

/* Run a program with these arguments, its name first and NULL last; true if it ended with status 0. */
static inline bool run_command(const char *const *arguments)
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

static inline bool run_shell(const char *command)
{
    const char *const arguments[] = {"sh", "-c", command, NULL};

    return run_command(arguments);
}

#endif
