// SPDX-License-Identifier: BSD-3-Clause
//
// What the guest asks the load to do, in one datagram to the control address: "udp connections=48 ports=48 first_port=11211 ...".
#ifndef MOSBENCH_NATIVE_LOAD_ORDER_H
#define MOSBENCH_NATIVE_LOAD_ORDER_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mosbench::load {

// Request and response by datagrams, in a closed loop: each connection has one request under way. The connections of a port share
// its requests, so that the server's work at each port is the same however fast the others are.
struct UdpOrder {
    uint32_t connections = 1; // over all machines
    uint32_t ports = 1;       // of the server, from first_port on; connections take turns
    uint32_t first_port = 11211;
    uint32_t bytes = 64;             // of a request and of its reply
    uint32_t requests = 1;           // to each port
    uint32_t think_ns = 0;           // from a reply to the next request
    uint32_t timeout_ns = 100000000; // then the request is given up (paper, 5.3: 100 ms)
    uint32_t seed = 1;
};

// The order, or nothing with a sentence in `problem`.
std::optional<UdpOrder> parse_order(std::string_view text, uint32_t machines, std::string &problem);

} // namespace mosbench::load

#endif
