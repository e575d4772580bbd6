// SPDX-License-Identifier: BSD-3-Clause
//
// The net behind the card's wire: one link of 10 Gbit/s each way, a switch, and machines that answer for their addresses (ARP,
// echo requests) and receive datagrams. The guest is 10.0.0.1, machine n is 10.0.1.(n + 1).
#ifndef MOSBENCH_NATIVE_LOAD_NETWORK_H
#define MOSBENCH_NATIVE_LOAD_NETWORK_H

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "native/load/events.h"

namespace mosbench::load {

using Frame = std::vector<uint8_t>;
using Mac = std::array<uint8_t, 6>;

inline constexpr uint32_t kGuestAddress = 10u << 24 | 1;
inline constexpr uint32_t kFirstMachine = 10u << 24 | 1u << 8 | 1;
inline constexpr uint32_t kFirstMirror = 10u << 24 | 2u << 8, kLastMirror = 10u << 24 | 3u << 8 | 255, kOtherSide = 1u << 8;
// Datagrams to this machine are orders to the load, not traffic.
inline constexpr uint32_t kControlAddress = 10u << 24 | 254;

struct Datagram {
    uint32_t source, destination; // addresses
    uint16_t source_port, destination_port;
    std::span<const uint8_t> payload;
};

class Network {
  public:
    struct Settings {
        uint32_t machines;
        uint64_t delay_ns; // each way
        double gbits_per_second;
        Mac guest;
        uint32_t loss_per_million = 0; // of the packets that mirrors send back, and of TCP in both directions
    };
    // What came over the wire, before the card sees it.
    using ToCard = std::function<void(std::span<const uint8_t> frame)>;
    using Receiver = std::function<void(const Datagram &datagram)>;
    using PacketReceiver = std::function<void(std::span<const uint8_t> packet)>;

    Network(const Settings &settings, Events &events, ToCard to_card)
        : settings_(settings), events_(events), to_card_(std::move(to_card))
    {
    }

    // A frame of the card; its first bit is on the wire at `ns`.
    void from_card(std::span<const uint8_t> frame, uint64_t ns);
    // From a machine (or the control address) to the guest, at `ns`.
    void send(const Datagram &datagram, uint64_t ns);
    void on_datagram(Receiver receiver) { receiver_ = std::move(receiver); }
    // The same for TCP: IP packets.
    void send_packet(std::span<const uint8_t> packet, uint64_t ns);
    void on_packet(PacketReceiver receiver) { packet_receiver_ = std::move(receiver); }
    uint64_t now() const { return now_; }

    // Frames; and how long the link was busy with them, each way.
    struct Counts {
        uint64_t to_card = 0, from_card = 0, bad = 0, unknown = 0, lost = 0;
        uint64_t to_card_ns = 0, from_card_ns = 0;
    };
    const Counts &counts() const { return counts_; }
    // Nothing is on the wire.
    bool empty() const { return in_flight_ == 0; }

  private:
    bool is_machine(uint32_t address) const { return address - kFirstMachine < settings_.machines || address == kControlAddress; }
    static bool is_mirror(uint32_t address) { return address >= kFirstMirror && address <= kLastMirror; }
    void arrived(const Frame &frame, uint64_t ns);
    void answer_arp(const Frame &frame, uint64_t ns);
    void answer_echo(const Frame &frame, uint64_t ns);
    void mirror(Frame frame, uint64_t ns);
    bool loses();
    void put(Frame frame, uint64_t ns);
    uint64_t wire_ns(size_t bytes) const;

    const Settings settings_;
    Events &events_;
    const ToCard to_card_;
    Receiver receiver_;
    PacketReceiver packet_receiver_;
    Counts counts_;
    uint64_t in_flight_ = 0;    // frames, both ways
    uint64_t wire_free_ns_ = 0; // towards the card
    uint64_t now_ = 0;          // of the datagram that is being received
    uint64_t dice_ = 1;
};

} // namespace mosbench::load

#endif
