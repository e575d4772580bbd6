// SPDX-License-Identifier: BSD-3-Clause
//
// Clients over TCP. A connection carries one request after another, or one; what is said on it is its Dialogue's.
#ifndef MOSBENCH_NATIVE_LOAD_TCP_CLIENTS_H
#define MOSBENCH_NATIVE_LOAD_TCP_CLIENTS_H

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "native/load/clients.h"
#include "native/load/dialogues.h"
#include "native/load/tcp_stack.h"

namespace mosbench::load {

class TcpClients final : public Clients {
  public:
    TcpClients(const Order &order, uint32_t machines, Events &events, TcpStack &stack, std::function<void()> finished);

    void retire() override;

  private:
    // One of the order's connections: over its life several of TCP's.
    struct Line final : TcpUser {
        Line(TcpClients &clients, uint32_t number) : owner(clients), place(number), dialogue(clients.dialogues_.make(number)) {}
        void connected() override { owner.connected(*this); }
        void received(std::span<const uint8_t> bytes) override { owner.judged(*this, dialogue->take(bytes)); }
        void ended() override { owner.judged(*this, dialogue->ended()); }
        void failed() override { owner.lost(*this, owner.events_.now()); }

        TcpClients &owner;
        const uint32_t place;
        const std::unique_ptr<Dialogue> dialogue;
        std::unique_ptr<TcpConnection> connection;
        bool opening = false;  // without a request
        bool ready = false;    // requests can be sent
        bool asked = false;    // one is under way
        uint32_t number = 0;   // of the last request, from 1
        uint32_t step = 0;     // what a time-out belongs to
        uint64_t since_ns = 0; // what its latency counts from
    };

    void prepare(uint32_t place, uint64_t now) override;
    void ask(uint32_t place, uint64_t since, uint64_t now) override;
    std::string more() const override;
    // Opens a connection, or does what is next on the one that is there; not for longer than the time-out.
    void go_on(Line &line, uint64_t now);
    void open(Line &line, uint64_t now);
    void connected(Line &line);
    void send(Line &line);
    void judged(Line &line, Verdict verdict);
    void ready(Line &line);
    void replied(Line &line, bool right);
    // The connection is of no use any more.
    void lost(Line &line, uint64_t now);

    TcpStack &stack_;
    Dialogues dialogues_;
    std::deque<Line> lines_;
    std::vector<uint32_t> next_port_; // of each machine
};

} // namespace mosbench::load

#endif
