/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * See run_queue.h.
 */
#include "qemu/osdep.h"
#include "run_queue.h"

Order mosbench_order;
