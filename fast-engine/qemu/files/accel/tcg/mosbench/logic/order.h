/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The order of the cores: tournament trees over their clocks. The slowest of those that can run is the next.
 */
#ifndef MOSBENCH_ORDER_H
#define MOSBENCH_ORDER_H

#include "cycles.h"
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CORE_BITS 6
#define MAX_CORES (1 << CORE_BITS)

/* A node holds the lesser of its two children: a clock with the core's number below it, so one comparison also breaks ties. Leaf
 * i is node MAX_CORES + i; NEVER: the core is not in the tree. */
typedef int64_t OrderTree[2 * MAX_CORES];

typedef struct Order {
    OrderTree clocks;  /* of the cores that can run */
    OrderTree turns;   /* of those that wait for their turn at a line, which its holder must not run past */
    uint64_t tie_mask; /* flips the order among equal clocks */
} Order;

/* No core can run. `reverse`: of equal clocks the highest core's comes first. */
void order_init(Order *order, bool reverse);

static inline void order_tree_set(const Order *order, OrderTree tree, int core, int64_t clock)
{
    int64_t value = clock == NEVER ? NEVER : (int64_t)((uint64_t)clock << CORE_BITS | ((uint64_t)core ^ order->tie_mask));

    tree[MAX_CORES + core] = value;
    for (int node = MAX_CORES + core; node > 1; node >>= 1) {
        value = earlier(value, tree[node ^ 1]);
        if (tree[node >> 1] == value) {
            break; /* and so is all above it */
        }
        tree[node >> 1] = value;
    }
}

static inline int64_t order_tree_least_other(const OrderTree tree, int core)
{
    int64_t least = NEVER;

    for (int node = MAX_CORES + core; node > 1; node >>= 1) {
        least = earlier(least, tree[node ^ 1]);
    }
    return least == NEVER ? NEVER : least >> CORE_BITS;
}

/* The core can run, at that clock, or cannot. `turn`: it was sent away from a busy line until then. */
static inline void order_set(Order *order, int core, bool can_run, int64_t clock, bool turn)
{
    order_tree_set(order, order->clocks, core, can_run ? clock : NEVER);
    if ((can_run && turn) || order->turns[MAX_CORES + core] != NEVER) {
        order_tree_set(order, order->turns, core, can_run && turn ? clock : NEVER);
    }
}

static inline bool order_is_empty(const Order *order)
{
    return order->clocks[1] == NEVER;
}

static inline bool order_has(const Order *order, int core)
{
    return order->clocks[MAX_CORES + core] != NEVER;
}

/* The core with the least clock, if one can run. */
static inline int order_slowest(const Order *order)
{
    return (int)(((uint64_t)order->clocks[1] ^ order->tie_mask) & (MAX_CORES - 1));
}

/* The least clock of all cores but one, or NEVER. */
static inline int64_t order_other(const Order *order, int core)
{
    return order_tree_least_other(order->clocks, core);
}

/* The core that has it, if there is one. */
static inline int order_next(const Order *order, int core)
{
    int64_t least = NEVER;

    for (int node = MAX_CORES + core; node > 1; node >>= 1) {
        least = earlier(least, order->clocks[node ^ 1]);
    }
    return (int)(((uint64_t)least ^ order->tie_mask) & (MAX_CORES - 1));
}

/* The earliest turn of all cores but one, or NEVER. */
static inline int64_t order_other_turn(const Order *order, int core)
{
    return order->turns[1] == NEVER ? NEVER : order_tree_least_other(order->turns, core);
}

#ifdef __cplusplus
}
#endif
#endif
