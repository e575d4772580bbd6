/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Guest memory of the nodes in one arena, so that a line number is a few bits of a host address.
 */
#ifndef MOSBENCH_ARENA_H
#define MOSBENCH_ARENA_H

#include "mosbench/hooks.h"
#include "mosbench/model_abi.h"

/* Bytes of the arena that are guest memory. */
uint64_t mosbench_arena_used(void);

/* The arena in the guest's physical address space: at most two pieces. Returns how many. */
size_t mosbench_memory_pieces(struct model_memory *pieces, size_t room);
/* Where the byte at a physical address of the guest is, NULL if that is no memory of the nodes. */
const uint8_t *mosbench_place_of(uint64_t physical);

#endif
