// SPDX-License-Identifier: BSD-3-Clause
#include "native/nic/offload.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "native/nic/checksum.h"

namespace mosbench::nic {

namespace {

constexpr uint32_t kShortest = 60; // bytes of a frame without its check sequence
constexpr uint32_t kAddresses = 12, kTag = 4;
constexpr uint8_t kFin = 0x01, kPush = 0x08, kCongestionReduced = 0x80;

// Where the checksum of layer 4 stands in its header.
uint32_t l4_field(Offload::Layer4 l4)
{
    return l4 == Offload::Layer4::tcp ? 16 : 6;
}

bool has_l4_checksum(Offload::Layer4 l4)
{
    return l4 == Offload::Layer4::tcp || l4 == Offload::Layer4::udp;
}

void put_ip_checksum(const Offload &what, std::span<uint8_t> frame)
{
    const std::span<uint8_t> header = frame.subspan(what.mac_bytes, what.ip_bytes);
    store16(&header[10], 0);
    store16(&header[10], ~fold(add(0, header)));
}

// The field holds a part of the sum already: the pseudo-header's.
void put_l4_checksum(const Offload &what, std::span<uint8_t> frame)
{
    const std::span<uint8_t> l4 = frame.subspan(what.mac_bytes + what.ip_bytes);
    uint16_t sum = static_cast<uint16_t>(~fold(add(0, l4)));
    if (sum == 0 && what.l4 == Offload::Layer4::udp) {
        sum = 0xFFFF; // 0 would say that there is none
    }
    store16(&l4[l4_field(what.l4)], sum);
}

void put(const Offload &what, std::vector<uint8_t> &frame, const std::function<void(std::span<const uint8_t>)> &out)
{
    if (what.tag) {
        const uint8_t tag[kTag] = {0x81, 0x00, static_cast<uint8_t>(what.vlan >> 8), static_cast<uint8_t>(what.vlan)};
        frame.insert(frame.begin() + kAddresses, tag, tag + kTag);
    }
    if (frame.size() < kShortest) {
        frame.resize(kShortest);
    }
    out(frame);
}

bool checksums_fit(const Offload &what, size_t bytes)
{
    if (what.ip_checksum && (what.ip_bytes < 20 || what.mac_bytes + what.ip_bytes > bytes)) {
        return false;
    }
    return !what.l4_checksum || !has_l4_checksum(what.l4) || what.mac_bytes + what.ip_bytes + l4_field(what.l4) + 2 <= bytes;
}

bool segments_fit(const Offload &what, size_t bytes)
{
    const bool tcp = what.l4 == Offload::Layer4::tcp;
    const uint32_t ip_least = what.ip4 ? 20 : 40;
    return has_l4_checksum(what.l4) && what.mss != 0 && what.ip_bytes >= ip_least && what.mac_bytes >= kAddresses + 2 &&
           what.l4_bytes >= (tcp ? 20u : 8u) && what.mac_bytes + what.ip_bytes + what.l4_bytes < bytes;
}

// The headers of one segment: `piece` bytes from `offset` of the payload.
void put_segment_headers(const Offload &what, std::span<uint8_t> frame, uint32_t number, uint32_t offset, uint32_t piece,
                         bool last)
{
    uint8_t *const ip = &frame[what.mac_bytes];
    uint8_t *const l4 = ip + what.ip_bytes;
    const uint32_t l4_length = what.l4_bytes + piece;
    if (what.ip4) {
        store16(ip + 2, what.ip_bytes + l4_length);
        store16(ip + 4, load16(ip + 4) + number);
    } else {
        store16(ip + 4, what.ip_bytes - 40 + l4_length);
    }
    if (what.l4 == Offload::Layer4::tcp) {
        store32(l4 + 4, load32(l4 + 4) + offset);
        l4[13] &= static_cast<uint8_t>(~((last ? 0 : kFin | kPush) | (number == 0 ? 0 : kCongestionReduced)));
    } else {
        store16(l4 + 4, l4_length);
    }
    // The driver's sum of the pseudo-header is without the length.
    uint8_t *const field = l4 + l4_field(what.l4);
    store16(field, fold(uint64_t{load16(field)} + l4_length));
}

} // namespace

Offload Offload::from(const TransmitContext &context, uint32_t command, uint32_t options)
{
    return {.ip_checksum = (options >> 8 & 1) != 0,
            .l4_checksum = (options >> 9 & 1) != 0,
            .segment = (command >> 31 & 1) != 0,
            .tag = (command >> 30 & 1) != 0,
            .mac_bytes = context.vlan_maclen_iplen >> 9 & 0x7F,
            .ip_bytes = context.vlan_maclen_iplen & 0x1FF,
            .l4_bytes = context.mss_l4len >> 8 & 0xFF,
            .mss = context.mss_l4len >> 16,
            .ip4 = (context.type >> 10 & 1) != 0,
            .l4 = static_cast<Layer4>(context.type >> 11 & 3),
            .vlan = static_cast<uint16_t>(context.vlan_maclen_iplen >> 16)};
}

bool offload(const Offload &what, std::span<uint8_t> packet, const std::function<void(std::span<const uint8_t>)> &out)
{
    if (packet.size() < kAddresses + 2 || !checksums_fit(what, packet.size()) ||
        (what.segment && !segments_fit(what, packet.size()))) {
        return false;
    }
    std::vector<uint8_t> frame;
    if (!what.segment) {
        if (what.l4_checksum && has_l4_checksum(what.l4)) {
            put_l4_checksum(what, packet);
        }
        if (what.ip_checksum) {
            put_ip_checksum(what, packet);
        }
        frame.assign(packet.begin(), packet.end());
        put(what, frame, out);
        return true;
    }
    const uint32_t header = what.mac_bytes + what.ip_bytes + what.l4_bytes;
    const uint32_t payload = static_cast<uint32_t>(packet.size()) - header;
    for (uint32_t number = 0, offset = 0; offset < payload; number++) {
        const uint32_t piece = std::min(what.mss, payload - offset);
        frame.assign(packet.begin(), packet.begin() + header);
        frame.insert(frame.end(), packet.begin() + header + offset, packet.begin() + header + offset + piece);
        put_segment_headers(what, frame, number, offset, piece, offset + piece == payload);
        put_l4_checksum(what, frame);
        if (what.ip4) {
            put_ip_checksum(what, frame);
        }
        put(what, frame, out);
        offset += piece;
    }
    return true;
}

} // namespace mosbench::nic
