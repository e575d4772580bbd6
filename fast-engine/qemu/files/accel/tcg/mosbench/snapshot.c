/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Guest memory at the end of the region, as an ELF core file with physical addresses. Pages never touched or zero are left out.
 */
#include "qemu/osdep.h"
#include "snapshot.h"
#include "mosbench/hooks.h"
#include "qapi/error.h"
#include "settings.h"

/* The library of the model writes the file, with what gem5 uses too. */
bool mosbench_write_snapshot(const char *path, Error **errp)
{
    char problem[256];

    if (!mosbench_model) {
        error_setg(errp, "%s: without a model there is nothing that writes guest memory (snapshot=off)", path);
        return false;
    }
    if (mosbench_operations.write_snapshot(mosbench_model, (const void *)mosbench_arena, path, problem, sizeof(problem))) {
        error_setg(errp, "%s", problem);
        return false;
    }
    return true;
}
