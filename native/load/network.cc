// SPDX-License-Identifier: BSD-3-Clause
#include "native/load/network.h"

#include <algorithm>

#include "native/nic/checksum.h"
#include "native/nic/headers.h"
#include "native/nic/pace.h"

namespace mosbench::load {

namespace {

using nic::load16;
using nic::load32;
using nic::store16;
using nic::store32;

constexpr uint32_t kEthernet = 14, kIp = 20, kUdp = 8, kArp = 28, kShortest = 60;
constexpr uint16_t kTypeIp = 0x0800, kTypeArp = 0x0806;
constexpr uint8_t kIcmp = 1, kEchoRequest = 8, kEchoReply = 0;

Mac mac_of(uint32_t address)
{
    return {0x02,
            0x01,
            static_cast<uint8_t>(address >> 24),
            static_cast<uint8_t>(address >> 16),
            static_cast<uint8_t>(address >> 8),
            static_cast<uint8_t>(address)};
}

void put_ethernet(Frame &frame, const Mac &to, const Mac &from, uint16_t type)
{
    std::copy(to.begin(), to.end(), frame.begin());
    std::copy(from.begin(), from.end(), frame.begin() + 6);
    store16(&frame[12], type);
}

// A checksum after 32 bits that it covers have changed (RFC 1624).
void adjust(uint8_t *sum, uint32_t before, uint32_t after)
{
    const uint64_t changed = uint64_t{static_cast<uint16_t>(~load16(sum))} + static_cast<uint16_t>(~(before >> 16)) +
                             static_cast<uint16_t>(~before) + (after >> 16) + (after & 0xFFFF);
    const auto value = static_cast<uint16_t>(~nic::fold(changed));
    store16(sum, value == 0 ? 0xFFFF : value); // the same number, and to UDP the only one of the two
}

} // namespace

uint64_t Network::wire_ns(size_t bytes) const
{
    return nic::wire_ns(std::max<size_t>(bytes, kShortest), settings_.gbits_per_second);
}

void Network::from_card(std::span<const uint8_t> frame, uint64_t ns)
{
    const uint64_t length_ns = wire_ns(frame.size()), arrival = ns + length_ns + settings_.delay_ns;
    counts_.from_card++;
    counts_.from_card_ns += length_ns;
    in_flight_++;
    events_.at(arrival, [this, copy = Frame(frame.begin(), frame.end()), arrival] {
        in_flight_--;
        arrived(copy, arrival);
    });
}

void Network::put(Frame frame, uint64_t ns)
{
    frame.resize(std::max<size_t>(frame.size(), kShortest));
    const uint64_t length_ns = wire_ns(frame.size());
    const uint64_t arrival = std::max(ns + settings_.delay_ns, wire_free_ns_) + length_ns;
    wire_free_ns_ = arrival;
    counts_.to_card++;
    counts_.to_card_ns += length_ns;
    in_flight_++;
    events_.at(arrival, [this, frame = std::move(frame)] {
        in_flight_--;
        to_card_(frame);
    });
}

// What a machine does not understand, or finds damaged, it drops and counts.
void Network::arrived(const Frame &frame, uint64_t ns)
{
    now_ = ns;
    if (frame.size() >= kEthernet + kArp && load16(&frame[12]) == kTypeArp) {
        answer_arp(frame, ns);
        return;
    }
    const nic::Headers headers = nic::parse(frame);
    if (!headers.ip || !(is_machine(headers.destination) || is_mirror(headers.destination))) {
        counts_.unknown++;
    } else if (!headers.ip_good || (headers.checked && !headers.good)) {
        counts_.bad++;
    } else if (is_mirror(headers.destination)) {
        mirror(frame, ns);
    } else if (headers.protocol == kIcmp) {
        answer_echo(frame, ns);
    } else if (headers.ports && headers.protocol == nic::kUdp && receiver_) {
        const uint32_t l4 = headers.bytes - kUdp;
        receiver_({headers.source, headers.destination, headers.source_port, headers.destination_port,
                   std::span(frame).subspan(headers.bytes, load16(&frame[l4 + 4]) - kUdp)});
    } else if (headers.ports && headers.protocol == nic::kTcp && packet_receiver_) {
        if (loses()) {
            counts_.lost++;
        } else {
            packet_receiver_(std::span(frame).subspan(kEthernet, load16(&frame[kEthernet + 2])));
        }
    } else {
        counts_.unknown++;
    }
}

void Network::answer_arp(const Frame &frame, uint64_t ns)
{
    const uint32_t wanted = load32(&frame[kEthernet + 24]);
    if (load16(&frame[kEthernet + 6]) != 1 || !(is_machine(wanted) || is_mirror(wanted))) {
        return;
    }
    Frame reply(frame.begin(), frame.begin() + kEthernet + kArp);
    const Mac mine = mac_of(wanted);
    put_ethernet(reply, settings_.guest, mine, kTypeArp);
    store16(&reply[kEthernet + 6], 2);
    std::copy(frame.begin() + kEthernet + 8, frame.begin() + kEthernet + 18, reply.begin() + kEthernet + 18);
    std::copy(mine.begin(), mine.end(), reply.begin() + kEthernet + 8);
    store32(&reply[kEthernet + 14], wanted);
    put(std::move(reply), ns);
}

void Network::answer_echo(const Frame &frame, uint64_t ns)
{
    const uint32_t header = (frame[kEthernet] & 15) * 4u, length = load16(&frame[kEthernet + 2]);
    const uint32_t icmp = kEthernet + header;
    if (length < header + 8 || frame[icmp] != kEchoRequest) {
        counts_.unknown++;
        return;
    }
    Frame reply(frame.begin(), frame.begin() + kEthernet + length);
    put_ethernet(reply, settings_.guest, mac_of(load32(&frame[kEthernet + 16])), kTypeIp);
    std::copy(frame.begin() + kEthernet + 16, frame.begin() + kEthernet + 20, reply.begin() + kEthernet + 12);
    std::copy(frame.begin() + kEthernet + 12, frame.begin() + kEthernet + 16, reply.begin() + kEthernet + 16);
    reply[icmp] = kEchoReply;
    store16(&reply[icmp + 2], 0);
    store16(&reply[icmp + 2], ~nic::fold(nic::add(0, std::span(reply).subspan(icmp))));
    put(std::move(reply), ns);
}

// The same number sequence in each run.
bool Network::loses()
{
    dice_ = dice_ * 6364136223846793005u + 1442695040888963407u;
    return (dice_ >> 33) % 1000000 < settings_.loss_per_million;
}

void Network::mirror(Frame frame, uint64_t ns)
{
    if (loses()) {
        counts_.lost++;
        return;
    }
    uint8_t *const ip = &frame[kEthernet], *const l4 = ip + (ip[0] & 15) * 4u;
    const uint32_t source = load32(ip + 12), destination = load32(ip + 16);
    const uint32_t from = destination ^ kOtherSide;
    uint8_t *l4_sum = nullptr;
    if (nic::parse(frame).ports) { // whose header is whole, then
        l4_sum = ip[9] == nic::kTcp ? l4 + 16 : load16(l4 + 6) != 0 ? l4 + 6 : nullptr;
    }
    for (uint8_t *const sum : {ip + 10, l4_sum}) {
        if (sum) {
            adjust(sum, source, from);
            adjust(sum, destination, source);
        }
    }
    store32(ip + 12, from);
    store32(ip + 16, source);
    put_ethernet(frame, settings_.guest, mac_of(from), kTypeIp);
    put(std::move(frame), ns);
}

void Network::send_packet(std::span<const uint8_t> packet, uint64_t ns)
{
    if (loses()) {
        counts_.lost++;
        return;
    }
    Frame frame(kEthernet + packet.size());
    put_ethernet(frame, settings_.guest, mac_of(load32(&packet[12])), kTypeIp);
    std::copy(packet.begin(), packet.end(), frame.begin() + kEthernet);
    put(std::move(frame), ns);
}

void Network::send(const Datagram &datagram, uint64_t ns)
{
    const auto bytes = static_cast<uint32_t>(datagram.payload.size());
    Frame frame(kEthernet + kIp + kUdp + bytes);
    put_ethernet(frame, settings_.guest, mac_of(datagram.source), kTypeIp);
    uint8_t *const ip = &frame[kEthernet], *const udp = ip + kIp;
    ip[0] = 0x45;
    store16(ip + 2, kIp + kUdp + bytes);
    store16(ip + 6, 0x4000); // not to be fragmented
    ip[8] = 64;
    ip[9] = nic::kUdp;
    store32(ip + 12, datagram.source);
    store32(ip + 16, datagram.destination);
    store16(ip + 10, ~nic::fold(nic::add(0, {ip, kIp})));
    store16(udp, datagram.source_port);
    store16(udp + 2, datagram.destination_port);
    store16(udp + 4, kUdp + bytes);
    std::copy(datagram.payload.begin(), datagram.payload.end(), frame.begin() + kEthernet + kIp + kUdp);
    const uint32_t pseudo = nic::pseudo_header_sum(datagram.source, datagram.destination, nic::kUdp, kUdp + bytes);
    const auto sum = static_cast<uint16_t>(~nic::fold(nic::add(pseudo, std::span(frame).subspan(kEthernet + kIp))));
    store16(udp + 6, sum == 0 ? 0xFFFF : sum);
    put(std::move(frame), ns);
}

} // namespace mosbench::load
