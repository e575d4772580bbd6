/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What engines that write checkpoints ask of the library besides card_abi.h.
 */
#ifndef MOSBENCH_NATIVE_LOAD_CARD_CHECKPOINT_ABI_H
#define MOSBENCH_NATIVE_LOAD_CARD_CHECKPOINT_ABI_H

#include "native/load/card_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Changes whenever this file does in a way that matters; the adapter refuses another number. */
#define CARD_CHECKPOINT_ABI_VERSION 1

struct card_checkpoints {
    uint32_t abi_version;
    /* Nothing is on the wire, and no client has anything to do: the card's own state, which is plain data, is all there is to
     * keep. What was ordered before is forgotten. */
    bool (*quiet)(const struct card *);
    /* Fills at most `bytes` of `state`, which may be NULL, and returns how many there are. */
    size_t (*save)(const struct card *, void *state, size_t bytes);
    /* Into a card that was just created, which asks for its wake-up anew. Returns 0, or -1: they are of another version. */
    int (*load)(struct card *, const void *state, size_t bytes);
};

void mosbench_card_checkpoints(struct card_checkpoints *operations);

#ifdef __cplusplus
}
#endif
#endif
