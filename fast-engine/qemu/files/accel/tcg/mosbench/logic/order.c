/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * See order.h; what is there is called for each slice.
 */
#include "order.h"

void order_init(Order *order, bool reverse)
{
    for (int i = 0; i < 2 * MAX_CORES; i++) {
        order->clocks[i] = order->turns[i] = NEVER;
    }
    order->tie_mask = reverse ? MAX_CORES - 1 : 0;
}
