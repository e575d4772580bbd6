// SPDX-License-Identifier: BSD-3-Clause
#include "native/nic/headers.h"

#include "native/nic/bytes.h"
#include "native/nic/checksum.h"

namespace mosbench::nic {

namespace {

constexpr uint16_t kEtherTypeIp = 0x0800;
constexpr uint32_t kIpHeader = 20, kTcpHeader = 20, kUdpHeader = 8;

// `packet`: IP's payload.
void parse_ports(std::span<const uint8_t> packet, Headers &found)
{
    const bool tcp = found.protocol == kTcp;
    if ((!tcp && found.protocol != kUdp) || packet.size() < (tcp ? kTcpHeader : kUdpHeader)) {
        return;
    }
    const uint32_t header = tcp ? (packet[12] >> 4) * 4u : kUdpHeader;
    const uint32_t length = tcp ? static_cast<uint32_t>(packet.size()) : load16(&packet[4]);
    if (header < (tcp ? kTcpHeader : kUdpHeader) || header > packet.size() || length < header || length > packet.size()) {
        return;
    }
    found.ports = true;
    found.source_port = load16(&packet[0]);
    found.destination_port = load16(&packet[2]);
    found.bytes += header;
    found.checked = tcp || load16(&packet[6]) != 0; // UDP may go without
    const uint32_t pseudo = pseudo_header_sum(found.source, found.destination, found.protocol, length);
    found.good = found.checked && fold(add(pseudo, packet.first(length))) == 0xFFFF;
}

} // namespace

Headers parse(std::span<const uint8_t> frame)
{
    Headers found;
    if (frame.size() < kEthernetHeader + kIpHeader || load16(&frame[12]) != kEtherTypeIp) {
        return found;
    }
    const std::span<const uint8_t> ip = frame.subspan(kEthernetHeader);
    const uint32_t header = (ip[0] & 15) * 4u, length = load16(&ip[2]);
    if (ip[0] >> 4 != 4 || header < kIpHeader || length < header || length > ip.size()) {
        return found;
    }
    found.ip = true;
    found.ip_good = fold(add(0, ip.first(header))) == 0xFFFF;
    found.protocol = ip[9];
    found.source = load32(&ip[12]);
    found.destination = load32(&ip[16]);
    found.bytes = kEthernetHeader + header;
    if ((load16(&ip[6]) & 0x3FFF) == 0) { // no fragment
        parse_ports(ip.subspan(header, length - header), found);
    }
    return found;
}

} // namespace mosbench::nic
