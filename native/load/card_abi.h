/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The C interface between an engine's adapter and the card with all that hangs on its wire: a shared object, C++20, that knows of
 * no engine. Everything is called from one thread. Times are nanoseconds of the guest.
 */
#ifndef MOSBENCH_NATIVE_LOAD_CARD_ABI_H
#define MOSBENCH_NATIVE_LOAD_CARD_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Changes whenever this file does in a way that matters; the adapter refuses another number. */
#define CARD_ABI_VERSION 2

#define CARD_NEVER UINT64_MAX

/* What the card's PCI function looks like. */
#define CARD_VENDOR 0x8086
#define CARD_DEVICE 0x10F9
#define CARD_REGISTER_BYTES 0x20000 /* BAR 0 */
#define CARD_MSIX_BAR 4
#define CARD_MSIX_BYTES 0x4000
#define CARD_MSIX_VECTORS 64
#define CARD_MSIX_PENDING 0x2000
#define CARD_MSI_CAPABILITY 0x50 /* 64-bit addresses, one message, no mask */
/* Both drivers read words of these capabilities by number. */
#define CARD_MSIX_CAPABILITY 0x70
#define CARD_EXPRESS_CAPABILITY 0xA0

struct card;

/* What the card asks of the engine. Each DMA is answered once with dma_done and its token, in the call itself or later. */
struct card_host {
    uint64_t (*now_ns)(void *opaque);
    /* Call wake then, in place of any time named before; CARD_NEVER: not at all. */
    void (*call_me_at)(void *opaque, uint64_t ns);
    void (*dma_read)(void *opaque, uint64_t address, uint32_t bytes, uint32_t token);
    void (*dma_write)(void *opaque, uint64_t address, const void *data, uint32_t bytes, uint32_t token);
    void (*message)(void *opaque, uint64_t address, uint32_t data);
};

struct card_operations {
    uint32_t abi_version;
    /* What an access of a core to a register costs it. */
    uint32_t register_read_ns, register_write_ns;

    /* BAR 0 and the MSI-X BAR, 32 bits at a time: of a 64-bit access the low word first. */
    uint32_t (*read)(struct card *, uint32_t offset);
    void (*write)(struct card *, uint32_t offset, uint32_t value);
    uint32_t (*read_msix)(struct card *, uint32_t offset);
    void (*write_msix)(struct card *, uint32_t offset, uint32_t value);
    /* Message control of the MSI-X capability. */
    void (*set_msix)(struct card *, bool on, bool all_masked);
    /* The MSI capability: a driver that has too few vectors of MSI-X for its taste (2.6.35 on one core) uses one message. */
    void (*set_msi)(struct card *, bool on, uint64_t address, uint32_t data);
    void (*power_on)(struct card *);
    void (*wake)(struct card *);
    /* `data`: what was read, else NULL. `good`: the address was memory. */
    void (*dma_done)(struct card *, uint32_t token, const void *data, uint32_t bytes, bool good);
    /* One JSON object with what the card and the clients have counted. Returns 0, or -1 with a sentence in `error`. */
    int (*write_metrics)(struct card *, const char *path, char *error, size_t error_bytes);
    void (*destroy)(struct card *);
};

/* `settings`: a text file of "key value" lines; those that begin with "nic_" are the card's, others are left to others.
 * Returns NULL with a sentence in `error` if a value is wrong or a key unknown. `operations` is filled in. */
struct card *mosbench_card_create(const char *settings, const struct card_host *host, void *opaque,
                                  struct card_operations *operations, char *error, size_t error_bytes);

#ifdef __cplusplus
}
#endif
#endif
