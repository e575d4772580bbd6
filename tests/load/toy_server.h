// SPDX-License-Identifier: BSD-3-Clause
//
// The net behind the wire and, in the guest's place, a second end of the same TCP.
#ifndef MOSBENCH_TESTS_LOAD_TOY_SERVER_H
#define MOSBENCH_TESTS_LOAD_TOY_SERVER_H

#include "native/load/network.h"
#include "native/load/tcp_stack.h"
#include "native/nic/bytes.h"

namespace mosbench::load::test {

inline constexpr uint32_t kEthernetBytes = 14;

struct ToyNet {
    explicit ToyNet(uint32_t loss_per_million = 0)
        : network({.machines = 25,
                   .delay_ns = 1000,
                   .gbits_per_second = 10,
                   .guest = {2, 0, 0, 0, 0, 1},
                   .loss_per_million = loss_per_million},
                  events, [this](std::span<const uint8_t> frame) { to_guest(frame); }),
          stack(kFirstMachine, 25, events, [this](std::span<const uint8_t> packet, uint64_t ns) { out(packet, ns); })
    {
        stack.add_address(kGuestAddress);
        network.on_packet([this](std::span<const uint8_t> packet) { stack.input(packet); });
    }

    void run(uint64_t until = UINT64_MAX - 1)
    {
        run_until([this, until] { return events.next() > until; });
    }
    template <typename Done> void run_until(Done done)
    {
        while (!done() && events.next() != Events::kNever) {
            now = events.next();
            events.run_one(now);
        }
    }

    uint64_t now = 0;
    uint64_t frames_to_guest = 0;
    Events events;
    Network network;
    TcpStack stack;

  private:
    void to_guest(std::span<const uint8_t> frame)
    {
        frames_to_guest++;
        stack.input(frame.subspan(kEthernetBytes, nic::load16(&frame[16])));
    }
    // The guest's packets begin their way at the card, the machines' at the network.
    void out(std::span<const uint8_t> packet, uint64_t ns)
    {
        if (nic::load32(&packet[12]) != kGuestAddress) {
            network.send_packet(packet, ns);
            return;
        }
        Frame frame(kEthernetBytes + packet.size());
        nic::store16(&frame[12], 0x0800);
        std::copy(packet.begin(), packet.end(), frame.begin() + kEthernetBytes);
        network.from_card(frame, ns);
    }
};

} // namespace mosbench::load::test

#endif
