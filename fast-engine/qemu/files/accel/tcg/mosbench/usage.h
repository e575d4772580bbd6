/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What each phase of a run took, written to engine.json when the process ends.
 */
#ifndef MOSBENCH_USAGE_H
#define MOSBENCH_USAGE_H

typedef enum Phase { PHASE_BOOT, PHASE_WARM, PHASE_REGION, PHASE_AFTER, PHASES } Phase;

extern const char *const mosbench_phase_names[PHASES];

void mosbench_usage_init(void);
Phase mosbench_phase(void);
void mosbench_enter_phase(Phase next);

/* A result could not be written: say so and end the process. */
G_NORETURN void mosbench_output_failed(const char *what);

#endif
