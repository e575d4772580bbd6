/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the insertions in QEMU's own files see of the fast engine. Everything is inert while mosbench_on is false
 * (no `-object mosbench-engine` on the command line): the binary then behaves as the QEMU it was built from.
 */
#ifndef MOSBENCH_HOOKS_H
#define MOSBENCH_HOOKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "mosbench/model_abi.h"

/* The engine drives this process: its scheduler, clock and disk are in use. */
extern bool mosbench_on;
/* Translated code calls the model: from the warm-up marker to the end of the region of interest. */
extern bool mosbench_hooks;

/* Set in the MemOp of the load that is the first half of an atomic read-modify-write and takes its line for writing, and of the store
 * that is the second half: nothing may come between them, so that one is not looked at. */
#define MOSBENCH_MO_ATOMIC 0x100
/* Set in the MemOp of a store that goes past the caches. */
#define MOSBENCH_MO_STREAM 0x200

/* An access kind as the generated code passes it: enum model_access_kind of model_abi.h. */
#define MOSBENCH_KIND_BITS 3
/* The immediate of the slow path: kind, log2 of the size, cycles of the block that come after it started. */
#define MOSBENCH_INFO(kind, size_log2, remaining)                                                                        \
    ((kind) | (size_log2) << MOSBENCH_KIND_BITS | (uint32_t)(remaining) << 16)
#define MOSBENCH_INFO_KIND(info) ((info) & 7)
#define MOSBENCH_INFO_SIZE(info) (1u << (((info) >> MOSBENCH_KIND_BITS) & 7))
#define MOSBENCH_INFO_REMAINING(info) ((info) >> 16)

/* The second word of TCG's per-instruction data holds the condition-code state and, above it, the cycles of the block so far. */
#define MOSBENCH_DATA_SHIFT 8

/* Physical memory of the guest lies in one arena whose base is a multiple of its largest size,
 * so bits 6..37 of a host address are the line number. */
#define MOSBENCH_ARENA_BYTES (1ull << 38)
extern uintptr_t mosbench_arena;

/* Static facts of the machine that generated code needs as immediates. */
extern uint32_t mosbench_l1d_mask, mosbench_l1i_mask, mosbench_access_cycles, mosbench_atomic_cycles;
/* Cores that work ahead (issue.h). 0: in-order ones. */
extern uint32_t mosbench_issue_width;
extern double mosbench_jump_cycles;
extern uint32_t mosbench_serializing_cycles;
extern size_t mosbench_tlb_entries;

void *mosbench_ram_alloc(size_t size);
void mosbench_dma(void *host, size_t bytes, bool write);
/* Set while the network card is the device that reads or writes. */
extern bool mosbench_dma_of_card;
void mosbench_timer_changed(void);
void mosbench_walk(void *env, void *host);
void mosbench_walk_for(uint64_t address, uintptr_t return_address);

/* How often a page of data was found to have code as well; from then on, stores to it take the slow path. */
extern uint64_t mosbench_code_pages;

/* The budget is used up: returns in the core's next slice. */
void mosbench_slice_over(void *cpu);
/* An instruction, interrupt or exception before which all that is under way ends, and after which the core begins anew. */
void mosbench_serialized(void *env);
/* All generated code is about to go. */
void mosbench_before_flush(void);
/* A device was read or written. */
void mosbench_disturbed(void);
/* And it was one whose accesses take time, which the core that made this one waits. */
void mosbench_device_wait(uint64_t ns);
/* A block was left before its end: what it did not execute goes back. */
void mosbench_give_back(void *cpu, uint32_t cycles, uint32_t instructions);

/* An access made by a helper rather than by generated code; `kind` as in model_abi.h. */
void mosbench_access(void *env, void *host, unsigned size, uint64_t address, unsigned kind, uintptr_t return_address);
/* The next access is of a store that has written some of its bytes already, as one over two pages does byte by byte: its instruction
 * may read what it stores to, so it must not start anew. Counts for that access only. */
extern bool mosbench_store_begun;
/* Generated code's slow path. */
void mosbench_miss(void *env, uintptr_t host, uint64_t address, uint64_t pc, uint32_t info, uintptr_t return_address);

/* Code generation of one block (one thread, one block at a time). */
struct TranslationBlock;
extern uint64_t mosbench_insn_pc;          /* back end: the instruction being emitted */
extern uint32_t mosbench_insn_cycles;      /* back end: cycles of the block before it */
extern uint32_t mosbench_block_cycles;     /* front end: cycles so far; back end: all of the block */
extern uint32_t mosbench_insn_accesses;    /* front end: accesses of the instruction being translated */
extern bool mosbench_insn_atomic;          /* front end: it is a locked one */
extern bool mosbench_block_loops;          /* front end: it jumps back to its beginning */
extern bool mosbench_insn_stream;          /* front end: its stores go past the caches */
/* The accesses of the block in the order of its code, as far as there is room: what the front end found, the back end passes on. */
struct mosbench_access_facts {
    struct model_origin origin;
    uint8_t load;
};
/* Of an access: its number as a load, and the instructions of its block from its own on. */
#define MOSBENCH_TOLD(load, instructions) ((load) | (instructions) << 8)
#define MOSBENCH_TOLD_LOAD(told) ((uint8_t)(told))
#define MOSBENCH_TOLD_INSTRUCTIONS(told) ((told) >> 8)
#define MOSBENCH_MAX_FACTS 512
extern struct mosbench_access_facts mosbench_facts[MOSBENCH_MAX_FACTS];
extern uint32_t mosbench_next_fact;        /* back end */
extern struct model_origin mosbench_last_origin; /* back end: of the access for which a filter was emitted last, */
extern uint32_t mosbench_last_told;              /* and its MOSBENCH_TOLD */
extern uint32_t mosbench_block_instructions, mosbench_insn_number;

/* Entry points of the accelerator. */
struct AccelOpsClass;
void mosbench_accel_ops(struct AccelOpsClass *ops);
void *mosbench_cpu_thread(void *argument);

#endif
