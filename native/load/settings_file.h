// SPDX-License-Identifier: BSD-3-Clause
//
// The card's part of a resolved machine: lines of "key value" whose keys begin with "nic_".
#ifndef MOSBENCH_NATIVE_LOAD_SETTINGS_FILE_H
#define MOSBENCH_NATIVE_LOAD_SETTINGS_FILE_H

#include <cstdint>
#include <string>

#include "native/nic/settings.h"

namespace mosbench::load {

struct WorldSettings {
    nic::Settings card;
    uint32_t loss_per_million = 0; // of the packets that mirrors send back, and of TCP
    uint32_t clients = 25;         // machines, each with an address of its own (paper, 5.4)
    std::string peer;              // a socket with what is at the other end of the wire; empty: the machines
};

// Throws std::runtime_error with a sentence that names file and key.
WorldSettings load_settings(const std::string &path);

} // namespace mosbench::load

#endif
