// SPDX-License-Identifier: BSD-3-Clause
//
// What all clients have in common: the closed loop of one order, its counts and its result.
#ifndef MOSBENCH_NATIVE_LOAD_CLIENTS_H
#define MOSBENCH_NATIVE_LOAD_CLIENTS_H

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "native/load/arrivals.h"
#include "native/load/events.h"
#include "native/load/histogram.h"
#include "native/load/network.h"
#include "native/load/order.h"

namespace mosbench::load {

inline constexpr uint32_t kFirstClientPort = 20000;

class Clients {
  public:
    // Requests sent; replies that were right; wrong ones; requests given up; replies that came late (UDP: after that, TCP: in
    // more than late_ns, they are right too); connections that were reset, or closed before their time.
    struct Counts {
        uint64_t sent = 0, right = 0, wrong = 0, dropped = 0, late = 0, resets = 0;
    };
    // `finished` is called once for each start: when no connection has anything left to do, or of a flow, when its requests have
    // ended.
    Clients(const Order &order, uint32_t machines, Events &events, std::function<void()> finished)
        : order_(order), machines_(machines), events_(events), finished_(std::move(finished))
    {
    }
    virtual ~Clients() = default;
    Clients(const Clients &) = delete;

    // Does an order: its own, then others that differ in the fields of "again". After a flow its connections go on: a request
    // that is under way counts for the order in which it ends.
    void start(const Order &order, uint64_t now);
    // The order has not ended.
    bool busy() const { return under_way_; }
    // A connection has more to do.
    bool at_work() const { return busy_ != 0; }
    const Order &order() const { return order_; }
    virtual void received(const Datagram &, uint64_t /*now*/) {}
    // Ends what is still open: other clients follow.
    virtual void retire() {}

    const Counts &counts() const { return counts_; }
    std::string result() const; // JSON

  protected:
    // Sends the next request of a connection; next() ends it. Its latency counts from `since`: in an open loop it may have
    // waited.
    virtual void ask(uint32_t connection, uint64_t since, uint64_t now) = 0;
    // What a connection does first of all in an order; it ends with begin().
    virtual void prepare(uint32_t connection, uint64_t now) { begin(connection, now); }
    // More of the result: members of JSON, each behind a comma.
    virtual std::string more() const { return {}; }
    // The next request of a connection, if its share has any left. In an open loop it waits for one to arrive.
    void begin(uint32_t connection, uint64_t now);
    // One more of the share's requests for this connection, if there is one: in an open loop, one that has arrived.
    bool take_one(uint32_t connection);
    // begin() after the time to think.
    void next(uint32_t connection, uint64_t now);
    uint32_t machine(uint32_t connection) const { return kFirstMachine + connection % machines_; }
    // UDP: each connection has a port of its machine for itself.
    uint16_t source_port(uint32_t connection) const { return static_cast<uint16_t>(kFirstClientPort + connection / machines_); }
    // Nothing if it came to no connection.
    std::optional<uint32_t> connection_of(const Datagram &datagram) const;
    uint16_t port(uint32_t connection) const { return static_cast<uint16_t>(order_.first_port + connection % order_.ports); }

    Order order_;
    const uint32_t machines_;
    Events &events_;
    Counts counts_;
    Histogram latencies_;

  private:
    // What connections share: those of a port, or each has its own.
    struct Share {
        uint32_t left = 0;            // requests that no connection has taken
        std::deque<uint64_t> arrived; // open loop: when those of them did that have
        std::vector<uint32_t> free;   // open loop: connections without a request, the last one first
    };
    void arrive(uint64_t number, uint64_t now);
    void end(uint64_t now);

    const std::function<void()> finished_;
    Share &share(uint32_t connection) { return shares_[connection % shares_.size()]; }
    // Of a flow: lets one more connection begin, and ends the order with the last of its requests.
    void flow_on(uint64_t now);
    void finish(uint64_t now);
    static uint64_t ended(const Counts &counts) { return counts.right + counts.wrong + counts.dropped; }
    std::vector<Share> shares_;
    Arrivals arrivals_;
    uint32_t busy_ = 0;  // connections that will have more to do
    uint32_t begun_ = 0; // of the order's connections; those of a flow begin one after the other
    bool under_way_ = false;
    bool flowed_ = false; // a flow is in the counts: of requests those that ended
    Counts at_end_;       // of the last order
    Counts between_;      // of a flow: what came after the last order's end, before this one
    uint64_t began_ns_ = 0, ended_ns_ = 0;
};

// Number of the connection, number of the request, then bytes that follow from both and the seed.
std::string numbered_bytes(const Order &order, uint32_t connection, uint32_t number);

} // namespace mosbench::load

#endif
