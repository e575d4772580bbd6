/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What lwIP asks of its environment.
 */
#ifndef MOSBENCH_LWIP_CC_H
#define MOSBENCH_LWIP_CC_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif
uint32_t mosbench_lwip_random(void);
#ifdef __cplusplus
}
#endif

/* What it calls an assertion is a mistake of ours. */
#define LWIP_PLATFORM_ASSERT(text)                                                                                               \
    do {                                                                                                                         \
        fprintf(stderr, "lwIP: %s, line %d of %s\n", text, __LINE__, __FILE__);                                                  \
        abort();                                                                                                                 \
    } while (0)
#define LWIP_PLATFORM_DIAG(text)

#endif
