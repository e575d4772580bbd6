/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the command line and the machine file say, and the coherence model that is loaded.
 */
#ifndef MOSBENCH_SETTINGS_H
#define MOSBENCH_SETTINGS_H

#include "mosbench/model_abi.h"

/* Bring-up of application processors spins on guest time; at the full clock it would spin for billions of instructions. */
#define MOSBENCH_BOOT_CLOCK_GHZ 0.1
/* Cycles. After the region nothing is measured, and cores that work side by side need not take turns as often. */
#define MOSBENCH_QUANTUM_AFTER 1000

typedef struct EngineSettings {
    char *machine;         /* resolved machine, "key value" lines */
    char *model;           /* shared object of the coherence model; NULL: order and clock only */
    char *kernel;          /* ELF file of the guest's kernel, for who called; NULL: not found out */
    char *output;          /* folder for records.bin, memory.elf, engine.json */
    uint32_t quantum;      /* cycles; 0: the model's */
    bool reverse;          /* break ties of equal clocks from the highest core down: a check, results must not depend on it */
    bool gdb;              /* stop where the region begins, for a debugger */
    bool snapshot;         /* write memory.elf at the end of the region */
    bool caches_from_job;  /* caches fill from the start of the job on, not from where it warms up */
    double clock_ghz;
    uint32_t sample_period;
    uint32_t pause_cycles;
} EngineSettings;

extern EngineSettings mosbench_settings;
extern uint32_t mosbench_quantum;       /* of the settings, and after the region MOSBENCH_QUANTUM_AFTER */
extern struct model *mosbench_model;    /* NULL: none */
extern struct model_operations mosbench_operations;

/* Read the machine file, load the model and find out what generated code needs to know of them. */
bool mosbench_settings_apply(Error **errp);

#endif
