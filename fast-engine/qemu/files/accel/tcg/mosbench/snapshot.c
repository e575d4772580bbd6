/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Guest memory at the end of the region, as an ELF core file with physical addresses. Pages never touched or zero are left out.
 */
#include "engine.h"
#include "qapi/error.h"
#include "hw/boards.h"
#include "hw/i386/x86.h"

#define FOUR_GIB (1ull << 32)

/* The arena in the guest's physical address space: up to the hole below 4 GiB, the rest above it. */
size_t mosbench_memory_pieces(struct model_memory *pieces, size_t room)
{
    X86MachineState *machine = X86_MACHINE(qdev_get_machine());
    uint64_t used = mosbench_arena_used(), low = MIN(used, machine->below_4g_mem_size);

    g_assert(room >= 2);
    pieces[0] = (struct model_memory) { .offset = 0, .physical = 0, .bytes = low };
    pieces[1] = (struct model_memory) { .offset = low, .physical = FOUR_GIB, .bytes = used - low };
    return used > low ? 2 : 1;
}

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
