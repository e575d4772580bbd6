/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * `-device mosbench-card,library=FILE,settings=FILE[,metrics=FILE]`: the PCI function of the network card. Configuration space,
 * address decoding, DMA, messages and a timer; everything else is in the library (native/load/card_abi.h), which knows nothing of
 * QEMU. A plain PCI device with its capabilities filled in by hand: QEMU's own MSI and MSI-X would keep a second state.
 */
#include "qemu/osdep.h"
#include <dlfcn.h>
#include "hw/pci/msi.h"
#include "hw/pci/pci.h"
#include "hw/qdev-properties.h"
#include "migration/vmstate.h"
#include "mosbench/card_abi.h"
#include "mosbench/hooks.h"
#include "qapi/error.h"
#include "qemu/error-report.h"
#include "qemu/module.h"
#include "qemu/timer.h"
#include "sysemu/sysemu.h"

#define TYPE_MOSBENCH_CARD "mosbench-card"
OBJECT_DECLARE_SIMPLE_TYPE(MosbenchCard, MOSBENCH_CARD)

#define EXPRESS_BYTES 0x3C              /* of a PCI Express capability, version 2 */
#define LINK_8_LANES_5_GT 0x82
#define MSI_BYTES (PCI_MSI_DATA_64 + 2)
#define MESSAGE_CONTROL (CARD_MSIX_CAPABILITY + PCI_MSIX_FLAGS)

struct MosbenchCard {
    PCIDevice parent;
    MemoryRegion registers, msix;
    QEMUTimer *timer;
    Notifier at_exit;
    char *library, *settings, *metrics;
    struct card *card;
    struct card_operations operations;
    GByteArray *data;                   /* of a DMA read */
};

/* ---- what the card asks for ---- */

static uint64_t now_ns(void *opaque)
{
    return qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
}

static void call_me_at(void *opaque, uint64_t ns)
{
    MosbenchCard *s = opaque;

    if (ns > INT64_MAX) {
        timer_del(s->timer);
    } else {
        timer_mod(s->timer, ns);
    }
}

/* Memory and nothing else: a descriptor may name the card's own registers. */
static bool dma(MosbenchCard *s, uint64_t address, void *data, uint32_t bytes, DMADirection direction)
{
    const MemTxAttrs attributes = { .memory = 1, .requester_id = pci_requester_id(PCI_DEVICE(s)) };
    MemTxResult result;

    mosbench_dma_of_card = true;
    result = pci_dma_rw(PCI_DEVICE(s), address, data, bytes, direction, attributes);
    mosbench_dma_of_card = false;
    return result == MEMTX_OK;
}

static void dma_read(void *opaque, uint64_t address, uint32_t bytes, uint32_t token)
{
    MosbenchCard *s = opaque;
    /* The answer may bring the card to its next read. */
    GByteArray *data = g_steal_pointer(&s->data);
    bool good;

    data = data ? data : g_byte_array_new();
    g_byte_array_set_size(data, bytes);
    good = dma(s, address, data->data, bytes, DMA_DIRECTION_TO_DEVICE);
    s->operations.dma_done(s->card, token, data->data, good ? bytes : 0, good);
    if (s->data) {
        g_byte_array_unref(data);
    } else {
        s->data = data;
    }
}

static void dma_write(void *opaque, uint64_t address, const void *data, uint32_t bytes, uint32_t token)
{
    MosbenchCard *s = opaque;
    bool good = dma(s, address, (void *)data, bytes, DMA_DIRECTION_FROM_DEVICE);

    s->operations.dma_done(s->card, token, NULL, 0, good);
}

static void message(void *opaque, uint64_t address, uint32_t data)
{
    msi_send_message(PCI_DEVICE(opaque), (MSIMessage) { .address = address, .data = data });
}

static const struct card_host host = {
    .now_ns = now_ns,
    .call_me_at = call_me_at,
    .dma_read = dma_read,
    .dma_write = dma_write,
    .message = message,
};

static void alarm_rings(void *opaque)
{
    MosbenchCard *s = opaque;

    s->operations.wake(s->card);
}

/* ---- what cores do ---- */

static uint64_t registers_read(void *opaque, hwaddr offset, unsigned size)
{
    MosbenchCard *s = opaque;
    uint64_t value = s->operations.read(s->card, offset);

    if (size == 8) {
        value |= (uint64_t)s->operations.read(s->card, offset + 4) << 32;
    }
    mosbench_device_wait(s->operations.register_read_ns);
    return value;
}

static void registers_write(void *opaque, hwaddr offset, uint64_t value, unsigned size)
{
    MosbenchCard *s = opaque;

    s->operations.write(s->card, offset, value);
    if (size == 8) {
        s->operations.write(s->card, offset + 4, value >> 32);
    }
    mosbench_device_wait(s->operations.register_write_ns);
}

static uint64_t msix_table_read(void *opaque, hwaddr offset, unsigned size)
{
    MosbenchCard *s = opaque;
    uint64_t value = s->operations.read_msix(s->card, offset);

    if (size == 8) {
        value |= (uint64_t)s->operations.read_msix(s->card, offset + 4) << 32;
    }
    mosbench_device_wait(s->operations.register_read_ns);
    return value;
}

static void msix_table_write(void *opaque, hwaddr offset, uint64_t value, unsigned size)
{
    MosbenchCard *s = opaque;

    s->operations.write_msix(s->card, offset, value);
    if (size == 8) {
        s->operations.write_msix(s->card, offset + 4, value >> 32);
    }
    mosbench_device_wait(s->operations.register_write_ns);
}

/* Flow Director's command is one write of 64 bits. */
#define WORDS_OF_32_OR_64_BITS                              \
    .endianness = DEVICE_LITTLE_ENDIAN,                     \
    .valid = { .min_access_size = 4, .max_access_size = 8 }, \
    .impl = { .min_access_size = 4, .max_access_size = 8 }

static const MemoryRegionOps registers_operations = {
    .read = registers_read,
    .write = registers_write,
    WORDS_OF_32_OR_64_BITS,
};

static const MemoryRegionOps msix_operations = {
    .read = msix_table_read,
    .write = msix_table_write,
    WORDS_OF_32_OR_64_BITS,
};

static void write_config(PCIDevice *device, uint32_t address, uint32_t value, int length)
{
    MosbenchCard *s = MOSBENCH_CARD(device);
    const uint8_t *msi = device->config + CARD_MSI_CAPABILITY;
    uint16_t control;

    pci_default_write_config(device, address, value, length);
    if (ranges_overlap(address, length, CARD_MSI_CAPABILITY, MSI_BYTES)) {
        s->operations.set_msi(s->card, pci_get_word(msi + PCI_MSI_FLAGS) & PCI_MSI_FLAGS_ENABLE,
                              pci_get_quad(msi + PCI_MSI_ADDRESS_LO), pci_get_word(msi + PCI_MSI_DATA_64));
    }
    if (ranges_overlap(address, length, MESSAGE_CONTROL, 2)) {
        control = pci_get_word(device->config + MESSAGE_CONTROL);
        s->operations.set_msix(s->card, control & PCI_MSIX_FLAGS_ENABLE, control & PCI_MSIX_FLAGS_MASKALL);
    }
}

/* ---- its life ---- */

static void write_metrics(Notifier *notifier, void *data)
{
    MosbenchCard *s = container_of(notifier, MosbenchCard, at_exit);
    char problem[256];

    if (s->operations.write_metrics(s->card, s->metrics, problem, sizeof(problem))) {
        error_report("mosbench-card: %s", problem);
    }
}

static bool load(MosbenchCard *s, Error **errp)
{
    void *library = s->library ? dlopen(s->library, RTLD_NOW | RTLD_LOCAL) : NULL;
    typeof(&mosbench_card_create) create;
    char problem[256] = "";

    if (!library) {
        error_setg(errp, "library: %s", s->library ? dlerror() : "not given");
        return false;
    }
    create = (typeof(create))dlsym(library, "mosbench_card_create");
    if (!create) {
        error_setg(errp, "library: %s", dlerror());
        return false;
    }
    s->card = create(s->settings ? s->settings : "/dev/null", &host, s, &s->operations, problem, sizeof(problem));
    if (!s->card) {
        error_setg(errp, "%s", problem);
        return false;
    }
    if (s->operations.abi_version != CARD_ABI_VERSION) {
        error_setg(errp, "library: interface version %u, this device has %u", s->operations.abi_version, CARD_ABI_VERSION);
        return false;
    }
    return true;
}

static bool add_capabilities(PCIDevice *device, Error **errp)
{
    uint8_t *config = device->config;

    if (pci_add_capability(device, PCI_CAP_ID_MSI, CARD_MSI_CAPABILITY, MSI_BYTES, errp) < 0 ||
        pci_add_capability(device, PCI_CAP_ID_MSIX, CARD_MSIX_CAPABILITY, PCI_CAP_MSIX_SIZEOF, errp) < 0 ||
        pci_add_capability(device, PCI_CAP_ID_EXP, CARD_EXPRESS_CAPABILITY, EXPRESS_BYTES, errp) < 0) {
        return false;
    }
    pci_set_word(config + CARD_MSI_CAPABILITY + PCI_MSI_FLAGS, PCI_MSI_FLAGS_64BIT);
    pci_set_word(device->wmask + CARD_MSI_CAPABILITY + PCI_MSI_FLAGS, PCI_MSI_FLAGS_ENABLE);
    pci_set_quad(device->wmask + CARD_MSI_CAPABILITY + PCI_MSI_ADDRESS_LO, ~UINT64_C(3));
    pci_set_word(device->wmask + CARD_MSI_CAPABILITY + PCI_MSI_DATA_64, UINT16_MAX);
    pci_set_word(config + MESSAGE_CONTROL, CARD_MSIX_VECTORS - 1);
    pci_set_word(device->wmask + MESSAGE_CONTROL, PCI_MSIX_FLAGS_ENABLE | PCI_MSIX_FLAGS_MASKALL);
    pci_set_long(config + CARD_MSIX_CAPABILITY + PCI_MSIX_TABLE, CARD_MSIX_BAR);
    pci_set_long(config + CARD_MSIX_CAPABILITY + PCI_MSIX_PBA, CARD_MSIX_PENDING | CARD_MSIX_BAR);
    pci_set_word(config + CARD_EXPRESS_CAPABILITY + PCI_EXP_FLAGS, 2);    /* version 2, an endpoint */
    pci_set_word(device->wmask + CARD_EXPRESS_CAPABILITY + PCI_EXP_DEVCTL, PCI_EXP_DEVCTL_READRQ | PCI_EXP_DEVCTL_PAYLOAD);
    pci_set_long(config + CARD_EXPRESS_CAPABILITY + PCI_EXP_LNKCAP, LINK_8_LANES_5_GT);
    pci_set_word(config + CARD_EXPRESS_CAPABILITY + PCI_EXP_LNKSTA, LINK_8_LANES_5_GT);
    return true;
}

static void realize(PCIDevice *device, Error **errp)
{
    MosbenchCard *s = MOSBENCH_CARD(device);

    s->timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, alarm_rings, s);
    if (!load(s, errp) || !add_capabilities(device, errp)) {
        return;
    }
    memory_region_init_io(&s->registers, OBJECT(s), &registers_operations, s, "mosbench-card", CARD_REGISTER_BYTES);
    memory_region_init_io(&s->msix, OBJECT(s), &msix_operations, s, "mosbench-card-msix", CARD_MSIX_BYTES);
    pci_register_bar(device, 0, PCI_BASE_ADDRESS_SPACE_MEMORY, &s->registers);
    pci_register_bar(device, CARD_MSIX_BAR, PCI_BASE_ADDRESS_SPACE_MEMORY, &s->msix);
    if (s->metrics) {
        s->at_exit.notify = write_metrics;
        qemu_add_exit_notifier(&s->at_exit);
    }
}

static void reset(DeviceState *device)
{
    MosbenchCard *s = MOSBENCH_CARD(device);

    timer_del(s->timer);
    s->operations.power_on(s->card);
}

static Property properties[] = {
    DEFINE_PROP_STRING("library", MosbenchCard, library),
    DEFINE_PROP_STRING("settings", MosbenchCard, settings),
    DEFINE_PROP_STRING("metrics", MosbenchCard, metrics),
    DEFINE_PROP_END_OF_LIST(),
};

static const VMStateDescription not_migrated = {
    .name = TYPE_MOSBENCH_CARD,
    .unmigratable = 1,
};

static void class_init(ObjectClass *class, void *data)
{
    PCIDeviceClass *pci = PCI_DEVICE_CLASS(class);
    DeviceClass *device = DEVICE_CLASS(class);

    pci->realize = realize;
    pci->config_write = write_config;
    pci->vendor_id = CARD_VENDOR;
    pci->device_id = CARD_DEVICE;
    pci->revision = 1;
    pci->class_id = PCI_CLASS_NETWORK_ETHERNET;
    device->reset = reset;
    device->vmsd = &not_migrated;
    device_class_set_props(device, properties);
}

static const TypeInfo info = {
    .name = TYPE_MOSBENCH_CARD,
    .parent = TYPE_PCI_DEVICE,
    .instance_size = sizeof(MosbenchCard),
    .class_init = class_init,
    .interfaces = (InterfaceInfo[]) { { INTERFACE_CONVENTIONAL_PCI_DEVICE }, { } },
};

static void register_types(void)
{
    type_register_static(&info);
}

type_init(register_types)
