/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Times in core cycles. This folder knows nothing of QEMU: it is what the engine decides, and the unit tests are built from it.
 */
#ifndef MOSBENCH_CYCLES_H
#define MOSBENCH_CYCLES_H

#include <stdint.h>

#define NEVER INT64_MAX

static inline int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

#endif
