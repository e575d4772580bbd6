/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What mosbench/hooks.h declares for the insertions in QEMU's own files and belongs to no part of the engine alone. mosbench_on
 * itself is in util/qemu-timer.c, which every QEMU tool links.
 */
#include "qemu/osdep.h"
#include "mosbench/hooks.h"

bool mosbench_hooks;
uint32_t mosbench_l1d_mask, mosbench_l1i_mask, mosbench_access_cycles, mosbench_atomic_cycles, mosbench_issue_width;
double mosbench_jump_cycles;
uint32_t mosbench_serializing_cycles;
struct mosbench_access_facts mosbench_facts[MOSBENCH_MAX_FACTS];
uint32_t mosbench_next_fact, mosbench_block_instructions, mosbench_insn_number;
struct model_origin mosbench_last_origin;
uint32_t mosbench_last_told;
uint64_t mosbench_code_pages;
size_t mosbench_tlb_entries;

uint64_t mosbench_insn_pc;
uint32_t mosbench_insn_cycles, mosbench_block_cycles, mosbench_insn_accesses;
bool mosbench_insn_atomic, mosbench_insn_stream, mosbench_block_loops;
