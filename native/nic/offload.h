// SPDX-License-Identifier: BSD-3-Clause
//
// What the card does to a packet on its way out: checksums, and segmentation of one TCP or UDP packet into frames.
#ifndef MOSBENCH_NATIVE_NIC_OFFLOAD_H
#define MOSBENCH_NATIVE_NIC_OFFLOAD_H

#include <cstdint>
#include <functional>
#include <span>

#include "native/nic/state.h"

namespace mosbench::nic {

// The fields of a context descriptor, and which of them the packet's data descriptor asks for.
struct Offload {
    bool ip_checksum, l4_checksum, segment, tag;
    uint32_t mac_bytes, ip_bytes, l4_bytes, mss;
    bool ip4;
    enum class Layer4 : uint8_t { udp, tcp, sctp, none } l4;
    uint16_t vlan;

    // `command`, `options`: words 2 and 3 of the first data descriptor.
    static Offload from(const TransmitContext &context, uint32_t command, uint32_t options);
};

// Calls `out` for each frame that `packet` becomes; `packet` is changed. False, and no call: the descriptors ask for what cannot
// be.
bool offload(const Offload &what, std::span<uint8_t> packet, const std::function<void(std::span<const uint8_t> frame)> &out);

} // namespace mosbench::nic

#endif
