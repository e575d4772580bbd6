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

enum class Kind { udp, udp_stream, memcached, tcp, stream, chat, http, postgresql };

// Request and response. In a closed loop each connection has one request under way, or one batch, and sends the next after its
// reply; in an open one requests arrive by a rate, and wait for a connection that is free. The connections of a port share its
// requests, so that the server's work at each port is the same however fast the others are; of PostgreSQL, which has a process
// for each connection, they do not.
struct Order {
    Kind kind = Kind::udp;
    uint32_t connections = 1; // over all machines
    uint32_t ports = 1;       // of the server, from first_port on; connections take turns
    uint32_t first_port = 11211;
    uint32_t requests = 1;           // to each port; of PostgreSQL, batches of each connection. 0: TCP only opens its connections
    uint32_t think_ns = 0;           // from a reply to the next request
    uint32_t rate = 0;               // requests a second that arrive at all ports together; 0: a closed loop
    uint32_t timeout_ns = 100000000; // then the request is given up (paper, 5.3: 100 ms); TCP waits longer, see order.cc
    uint32_t seed = 1;
    uint32_t bytes = 64;          // udp, tcp: of a request and of its reply; streams: of a request's data; chat: of a message
    uint32_t reply_bytes = 0;     // streams: of a reply's data
    uint32_t members = 2;         // chat: of a room
    uint32_t apart = 1;           // chat: 1 = they come to different ports
    uint32_t batch = 1;           // memcached: requests sent together; postgresql: queries
    uint32_t ignore = 0;          // memcached: so many replies are thrown away and count as nothing; a fault for tests
    uint32_t close = 0;           // tcp: 1 = a connection for each request, which the server closes (http: always)
    uint32_t late_ns = 100000000; // TCP: a reply that takes longer is late
    uint32_t rows = 1;            // postgresql: of the table
    uint32_t updates = 0;         // postgresql: 1 = some of the queries are UPDATEs
    uint32_t flow = 0;            // 1 = connections go on when the order has ended, and the next one counts from there
    uint32_t body_bytes = 0;      // http: of the file, and its FNV-1a hash
    uint32_t body_hash = 0;
};

// The order, or nothing with a sentence in `problem`. "again requests=N": as `before`, if there is one, with its connections.
std::optional<Order> parse_order(std::string_view text, uint32_t machines, const Order *before, std::string &problem);
bool is_again(std::string_view text);

} // namespace mosbench::load

#endif
