/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Accesses that do not pass the inline filter: TLB misses and helpers. Included by accel/tcg/cputlb.c only.
 */
#ifndef MOSBENCH_CPUTLB_H
#define MOSBENCH_CPUTLB_H

#include "mosbench/hooks.h"
#include "mosbench/model_abi.h"

#define mosbench_load(env, host, size, address, oi, code_read, retaddr)                                                  \
    do {                                                                                                                 \
        if (mosbench_hooks && !(code_read)) {                                                                            \
            mosbench_access(env, host, size, address,                                                                    \
                            get_memop(oi) & MOSBENCH_MO_ATOMIC ? MODEL_ATOMIC : MODEL_READ, retaddr);                    \
        }                                                                                                                \
    } while (0)

#define mosbench_store(env, host, size, address, oi, retaddr)                                                            \
    do {                                                                                                                 \
        if (mosbench_hooks && !(get_memop(oi) & MOSBENCH_MO_ATOMIC)) {                                                   \
            mosbench_access(env, host, size, address,                                                                    \
                            get_memop(oi) & MOSBENCH_MO_STREAM ? MODEL_STREAM : MODEL_WRITE, retaddr);                   \
        }                                                                                                                \
    } while (0)

#endif
