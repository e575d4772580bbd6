/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * See guest_stack.h.
 */
#include "qemu/osdep.h"
#include "guest_stack.h"
#include "arena.h"
#include "core.h"

#define NO_PAGE UINT64_MAX

static CPUState *looked_at;
/* The page that was read last; its place is NULL where nothing is mapped, or no memory of the nodes. */
static uint64_t page;
static const uint8_t *place_of_page;

/* Where a core stands, before an access or between blocks, these registers are those of the instruction: generated code has them in
 * `env` whenever it may have to leave. */
static void stack(uint16_t core, uint64_t *stack_pointer, uint64_t *frame_pointer)
{
    const CPUX86State *env = mosbench_cores[core].cpu->env_ptr;

    looked_at = mosbench_cores[core].cpu;
    page = NO_PAGE;
    *stack_pointer = env->regs[R_ESP];
    *frame_pointer = env->regs[R_EBP];
}

/* Through the guest's page tables as a debugger does it: no TLB is filled, and the model sees nothing of it. */
static const uint8_t *place_of(uint64_t address)
{
    if ((address & TARGET_PAGE_MASK) != page) {
        MemTxAttrs attributes;
        hwaddr physical;

        page = address & TARGET_PAGE_MASK;
        physical = cpu_get_phys_page_attrs_debug(looked_at, page, &attributes);
        place_of_page = physical == (hwaddr)-1 ? NULL : mosbench_place_of(physical);
    }
    return place_of_page ? place_of_page + (address & ~TARGET_PAGE_MASK) : NULL;
}

static bool read_word(uint64_t address, uint64_t *value)
{
    uint8_t bytes[sizeof(*value)];
    size_t here = MIN(sizeof(bytes), TARGET_PAGE_SIZE - (address & ~TARGET_PAGE_MASK));
    const uint8_t *place = place_of(address);

    if (!place) {
        return false;
    }
    memcpy(bytes, place, here);
    if (unlikely(here < sizeof(bytes))) {
        place = place_of(address + here);
        if (!place) {
            return false;
        }
        memcpy(bytes + here, place, sizeof(bytes) - here);
    }
    *value = ldq_le_p(bytes);
    return true;
}

const struct model_guest mosbench_guest = { .stack = stack, .read = read_word };
