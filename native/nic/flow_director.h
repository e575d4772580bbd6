// SPDX-License-Identifier: BSD-3-Clause
//
// Flow Director: filters that send a flow to a queue, set by the driver through FDIRHASH and FDIRCMD. Signature filters know a
// flow by a hash of 30 bits (the drivers set them for what they send: "application targeted routing"), perfect filters by its
// fields.
#ifndef MOSBENCH_NATIVE_NIC_FLOW_DIRECTOR_H
#define MOSBENCH_NATIVE_NIC_FLOW_DIRECTOR_H

#include <cstdint>
#include <optional>

#include "native/nic/headers.h"
#include "native/nic/state.h"

namespace mosbench::nic {

// What FDIRHASH has for a flow as the receiver sees it: bucket in bits 14:0, signature in bits 30:16. `flow_type`: bits 1:0 are
// the protocol (1 UDP, 2 TCP, 3 SCTP), bit 2 says IPv6.
uint32_t flow_hash(uint8_t flow_type, uint32_t source, uint32_t destination, uint16_t source_port, uint16_t destination_port);

class FlowDirector {
  public:
    explicit FlowDirector(State &state) : state_(state) {}

    void write_control(uint32_t value);
    // True: the table is nearly full, which the driver wants to be told.
    bool write_command(uint32_t value);
    void clear();
    uint32_t free() const;

    struct Match {
        uint8_t queue;
        bool drop;
    };
    std::optional<Match> match(const Headers &headers);

  private:
    bool perfect() const { return state_.at(reg::FDIRCTRL) & bits::FDIRCTRL_PERFECT; }
    bool add(uint32_t command);
    void remove(uint32_t command);
    void query(uint32_t command);
    Signature *find(uint32_t hash, uint8_t flow_type);
    Perfect *find_perfect(uint32_t id);
    void matched();
    bool matches(const Perfect &filter, const Headers &headers, uint8_t flow_type) const;

    State &state_;
};

} // namespace mosbench::nic

#endif
