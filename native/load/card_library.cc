// SPDX-License-Identifier: BSD-3-Clause
//
// The C interfaces of card_abi.h and card_checkpoint_abi.h on top of World.
#include "native/load/card_checkpoint_abi.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "native/load/world.h"

struct card {
    mosbench::load::World world;
};

using namespace mosbench;
static_assert(CARD_REGISTER_BYTES == nic::kRegisterBytes && CARD_MSIX_BYTES == nic::kMsixBytes &&
              CARD_MSIX_VECTORS == nic::kVectors && CARD_MSIX_PENDING == nic::kMsixPending && CARD_NEVER == nic::kNever);

namespace {

void say(char *error, size_t error_bytes, const std::string &text)
{
    if (error_bytes != 0) {
        std::snprintf(error, error_bytes, "%s", text.c_str());
    }
}

int write_metrics(card *self, const char *path, char *error, size_t error_bytes)
{
    std::ofstream file(path);
    file << self->world.metrics() << std::flush;
    if (!file) {
        say(error, error_bytes, std::string("cannot write ") + path);
        return -1;
    }
    return 0;
}

} // namespace

extern "C" __attribute__((visibility("default"))) card *mosbench_card_create(const char *settings, const card_host *host,
                                                                             void *opaque, card_operations *operations,
                                                                             char *error, size_t error_bytes)
{
    try {
        const mosbench::load::WorldSettings wanted = mosbench::load::load_settings(settings);
        std::unique_ptr<card> self(new card{mosbench::load::World(wanted, *host, opaque)});
        *operations = {
            .abi_version = CARD_ABI_VERSION,
            .register_read_ns = wanted.card.register_read_ns,
            .register_write_ns = wanted.card.register_write_ns,
            .read = [](card *c, uint32_t offset) { return c->world.card().read(offset); },
            .write = [](card *c, uint32_t offset, uint32_t value) { c->world.card().write(offset, value); },
            .read_msix = [](card *c, uint32_t offset) { return c->world.card().read_msix(offset); },
            .write_msix = [](card *c, uint32_t offset, uint32_t value) { c->world.card().write_msix(offset, value); },
            .set_msix = [](card *c, bool on, bool all_masked) { c->world.card().set_msix(on, all_masked); },
            .set_msi = [](card *c, bool on, uint64_t address, uint32_t data) { c->world.card().set_msi(on, address, data); },
            .power_on = [](card *c) { c->world.card().power_on(); },
            .wake = [](card *c) { c->world.wake(); },
            .dma_done = [](card *c, uint32_t token, const void *data, uint32_t bytes,
                           bool good) { c->world.card().dma_done(token, {static_cast<const uint8_t *>(data), bytes}, good); },
            .write_metrics = write_metrics,
            .destroy = [](card *c) { delete c; },
        };
        return self.release();
    } catch (const std::exception &exception) {
        say(error, error_bytes, exception.what());
        return nullptr;
    }
}

extern "C" __attribute__((visibility("default"))) void mosbench_card_checkpoints(card_checkpoints *operations)
{
    *operations = {
        .abi_version = CARD_CHECKPOINT_ABI_VERSION,
        .quiet = [](const card *c) { return c->world.quiet(); },
        .save =
            [](const card *c, void *state, size_t bytes) {
                const std::vector<uint8_t> saved = c->world.card().save();
                if (state != nullptr) {
                    std::memcpy(state, saved.data(), std::min(bytes, saved.size()));
                }
                return saved.size();
            },
        .load = [](card *c, const void *state,
                   size_t bytes) { return c->world.card().load({static_cast<const uint8_t *>(state), bytes}) ? 0 : -1; },
    };
}
