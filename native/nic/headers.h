// SPDX-License-Identifier: BSD-3-Clause
//
// What the card recognises in a received frame: Ethernet, IPv4 and behind it TCP or UDP. Everything else, IPv6 and tagged frames
// among it, is to this model a frame without a type.
#ifndef MOSBENCH_NATIVE_NIC_HEADERS_H
#define MOSBENCH_NATIVE_NIC_HEADERS_H

#include <cstdint>
#include <span>

namespace mosbench::nic {

inline constexpr uint32_t kEthernetHeader = 14;
inline constexpr uint8_t kTcp = 6, kUdp = 17;

struct Headers {
    bool ip = false;      // an IPv4 header that is whole
    bool ports = false;   // TCP or UDP, not a fragment, its header whole
    bool ip_good = false; // the header's checksum is right
    bool checked = false; // the packet has a TCP or UDP checksum
    bool good = false;    // and that is right
    uint8_t protocol = 0; // of IP
    uint32_t source = 0, destination = 0;
    uint16_t source_port = 0, destination_port = 0;
    uint32_t bytes = 0; // of the frame up to the end of the last header
};

Headers parse(std::span<const uint8_t> frame);

} // namespace mosbench::nic

#endif
