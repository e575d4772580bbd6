// SPDX-License-Identifier: BSD-3-Clause
//
// The card, its wire and the machines at the other end, behind the C interface that the adapters use.
#ifndef MOSBENCH_NATIVE_LOAD_WORLD_H
#define MOSBENCH_NATIVE_LOAD_WORLD_H

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "native/load/card_abi.h"
#include "native/load/clients.h"
#include "native/load/events.h"
#include "native/load/network.h"
#include "native/load/peer_wire.h"
#include "native/load/settings_file.h"
#include "native/load/tcp_stack.h"
#include "native/nic/card.h"

namespace mosbench::load {

class World : private nic::Host {
  public:
    World(const WorldSettings &settings, const card_host &host, void *opaque);
    World(const World &) = delete;

    nic::Card &card() { return card_; }
    const nic::Card &card() const { return card_; }
    // Nothing is on the wire, and no load is under way. TCP has timers as long as it has connections, and each request had its
    // time-out: they are nothing to wait for.
    bool quiet() const { return network_.empty() && (clients_.empty() || !clients_.back()->at_work()); }
    void wake();
    std::string metrics() const;

  private:
    uint64_t now_ns() const override { return host_.now_ns(opaque_); }
    void call_me_at(uint64_t ns) override;
    void dma_read(uint64_t address, uint32_t bytes, uint32_t token) override { host_.dma_read(opaque_, address, bytes, token); }
    void dma_write(uint64_t address, std::span<const uint8_t> data, uint32_t token) override
    {
        host_.dma_write(opaque_, address, data.data(), static_cast<uint32_t>(data.size()), token);
    }
    void message(uint64_t address, uint32_t data) override { host_.message(opaque_, address, data); }
    void frame_out(std::span<const uint8_t> frame, uint64_t ns) override
    {
        peer_ ? peer_->from_card(frame, ns) : network_.from_card(frame, ns);
    }
    void set_alarm();
    void to_card(std::span<const uint8_t> frame);
    void datagram(const Datagram &datagram);
    void order(const Datagram &datagram);
    std::unique_ptr<Clients> make_clients(const Order &order);
    void answer(const Datagram &order, const std::string &text);
    // Of the load that has ended: what its clients counted, and how long the link was busy.
    std::string load_result() const;

    const card_host host_;
    void *const opaque_;
    uint64_t card_wakes_ns_ = nic::kNever, alarm_ns_ = nic::kNever;
    bool awake_ = false;
    Events events_;
    Network network_;
    std::unique_ptr<PeerWire> peer_; // in place of the net, where the settings name one
    const uint32_t machines_;
    TcpStack stack_;
    std::vector<std::unique_ptr<Clients>> clients_; // the last ones are at work; events may still name the others
    Datagram ordered_{};                            // the last order, without its text
    Network::Counts at_order_;                      // what had been counted when it came
    std::string result_ = "null";                   // of the last load that has ended
    nic::Card card_;
};

} // namespace mosbench::load

#endif
