/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Loops with PAUSE: when is a round the same as the one before, and what is skipped if a core sleeps through some. Round a loop
 * that left all registers as they were, stored nothing, saw no clock and no device and only read lines that the core holds, every
 * further round is the same until a line is taken away or an interrupt comes.
 */
#ifndef MOSBENCH_SPIN_H
#define MOSBENCH_SPIN_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPIN_REGISTERS 16
#define SPIN_FLAGS 4
#define SPIN_MAX_LINES 4
/* A round is no longer, and a core looks again after so many cycles, should it wait for something that the model does not see. */
#define SPIN_MAX_ROUND_CYCLES 1000
#define SPIN_MAX_SLEEP_CYCLES 16384

typedef struct Spin {
    uint64_t pc, registers[SPIN_REGISTERS], flags[SPIN_FLAGS]; /* at the last PAUSE */
    int64_t clock, instructions;                               /* the core's, then */
    bool observing;                                            /* the round under way has done nothing but read */
    unsigned lines;                                            /* that it has read */
    uint32_t line[SPIN_MAX_LINES];
    int64_t round_cycles, round_instructions; /* of the round that is the same for ever */
} Spin;

typedef enum SpinStep {
    SPIN_GO_ON,
    SPIN_OBSERVE, /* the next round may be like this one: tell spin_access of each access of it */
    SPIN_SLEEP,   /* this one was, and lines[] are what it depends on */
} SpinStep;

/* The core, whose clock is exact, has executed PAUSE with these registers and condition codes. */
SpinStep spin_pause(Spin *spin, uint64_t pc, const uint64_t registers[SPIN_REGISTERS], const uint64_t flags[SPIN_FLAGS],
                    int64_t clock, int64_t instructions);

/* An access of the round under observation; `quiet`: a read that waited for nothing. Returns whether it is observed still. */
bool spin_access(Spin *spin, uint32_t line, bool quiet);

/* The lines cannot be watched: the loop is looked at anew. */
static inline void spin_forget(Spin *spin)
{
    spin->pc = 0;
}

/* The clock after SPIN_SLEEP, should nobody wake the core: some rounds ahead. */
static inline int64_t spin_sleep_end(const Spin *spin)
{
    return spin->clock + SPIN_MAX_SLEEP_CYCLES / spin->round_cycles * spin->round_cycles;
}

/* The clock of the first round that can see what happens at `now`. */
static inline int64_t spin_round_from(const Spin *spin, int64_t now)
{
    int64_t rounds = now <= spin->clock ? 0 : (now - spin->clock + spin->round_cycles - 1) / spin->round_cycles;

    return spin->clock + rounds * spin->round_cycles;
}

/* Rounds slept through, up to `clock`. */
static inline int64_t spin_rounds(const Spin *spin, int64_t clock)
{
    return (clock - spin->clock) / spin->round_cycles;
}

#ifdef __cplusplus
}
#endif
#endif
