/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Cores that spin on memory sleep until the memory changes: the core's clock is set some rounds of its loop ahead (logic/spin.h),
 * and back to the first round that can see a difference. Its cycles and instructions are those of the rounds; only host time is
 * saved.
 */
#ifndef MOSBENCH_SLEEP_H
#define MOSBENCH_SLEEP_H

#include "core.h"

/* An access that reached the model while the core's round is observed. */
void mosbench_spin_access(Core *core, uint32_t line, unsigned kind, bool waited);

/* A core that sleeps goes on, its clock not before `now`; and so nobody runs far past it. */
void mosbench_wake(int index, int64_t now);
void mosbench_wake_all(int64_t now);
void mosbench_line_lost(uint16_t core, uint64_t now);

/* What the rounds that a core sleeps through, up to its clock, would add to its counters: all zeros if it does not sleep. */
typedef struct SleptThrough {
    int64_t instructions, issued, paused;
} SleptThrough;

SleptThrough mosbench_slept_through(const Core *core);

/* A core that sleeps runs again: its time has come. */
void mosbench_sleep_end(Core *core);

#endif
