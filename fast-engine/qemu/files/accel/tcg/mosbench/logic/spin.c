/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * See spin.h.
 */
#include "spin.h"
#include <string.h>

static bool same_state(Spin *spin, uint64_t pc, const uint64_t *registers, const uint64_t *flags)
{
    bool same = spin->pc == pc && !memcmp(spin->registers, registers, sizeof(spin->registers)) &&
                !memcmp(spin->flags, flags, sizeof(spin->flags));

    if (!same) {
        spin->pc = pc;
        memcpy(spin->registers, registers, sizeof(spin->registers));
        memcpy(spin->flags, flags, sizeof(spin->flags));
    }
    return same;
}

SpinStep spin_pause(Spin *spin, uint64_t pc, const uint64_t registers[SPIN_REGISTERS], const uint64_t flags[SPIN_FLAGS],
                    int64_t clock, int64_t instructions)
{
    int64_t cycles = clock - spin->clock;
    bool observed = spin->observing && spin->lines && cycles <= SPIN_MAX_ROUND_CYCLES;

    spin->round_cycles = cycles;
    spin->round_instructions = instructions - spin->instructions;
    spin->observing = false;
    spin->clock = clock;
    spin->instructions = instructions;
    if (!same_state(spin, pc, registers, flags)) {
        return SPIN_GO_ON;
    }
    if (!observed) {
        spin->lines = 0;
        spin->observing = true;
        return SPIN_OBSERVE;
    }
    return SPIN_SLEEP;
}

bool spin_access(Spin *spin, uint32_t line, bool quiet)
{
    unsigned i = 0;

    while (i < spin->lines && spin->line[i] != line) {
        i++;
    }
    if (!quiet || i == SPIN_MAX_LINES) {
        spin->observing = false;
        return false;
    }
    spin->line[i] = line;
    if (i == spin->lines) {
        spin->lines++;
    }
    return true;
}
