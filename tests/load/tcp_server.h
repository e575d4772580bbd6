// SPDX-License-Identifier: BSD-3-Clause
//
// Clients over TCP, and a server at the guest's address that does with what comes what a test wants.
#ifndef MOSBENCH_TESTS_LOAD_TCP_SERVER_H
#define MOSBENCH_TESTS_LOAD_TCP_SERVER_H

#include <gtest/gtest.h>

#include "native/load/tcp_clients.h"
#include "tests/load/toy_server.h"

#include <deque>
#include <functional>

namespace mosbench::load::test {

// What a server's end of a connection does with what has come: it takes it out of `unread`, and sends.
struct ServerEnd final : TcpUser {
    using Serve = std::function<void(ServerEnd &)>;
    Serve serve;
    std::unique_ptr<TcpConnection> connection;
    std::string unread;
    uint32_t requests = 0;

    void connected() override {}
    void received(std::span<const uint8_t> bytes) override
    {
        unread.append(bytes.begin(), bytes.end());
        serve(*this);
    }
    void ended() override { connection->close(); }
    void failed() override {}
    void close()
    {
        connection->close();
        connection.reset();
    }
};

struct TcpClientsTest : testing::Test {
    ToyNet net;
    std::deque<ServerEnd> ends;
    uint32_t finished = 0;
    bool one_count_for_each = true; // request
    std::unique_ptr<TcpClients> clients;

    void listen(ServerEnd::Serve serve, uint32_t ports = 1)
    {
        for (uint32_t p = 0; p < ports; p++) {
            net.stack.listen({kGuestAddress, static_cast<uint16_t>(11211 + p)},
                             [this, serve](std::unique_ptr<TcpConnection> connection) {
                                 ServerEnd &end = ends.emplace_back();
                                 end.serve = serve;
                                 end.connection = std::move(connection);
                                 end.connection->set_user(end);
                             });
        }
    }
    // Counts of an order, which ends whatever the server does.
    Clients::Counts run(const Order &order)
    {
        clients = std::make_unique<TcpClients>(order, 25, net.events, net.stack, [this] { finished++; });
        return again(order);
    }
    Clients::Counts again(const Order &order)
    {
        const uint32_t before = finished;
        clients->start(order, net.now);
        net.run_until([&] { return finished == before + 1; });
        EXPECT_EQ(finished, before + 1);
        EXPECT_FALSE(clients->busy());
        const Clients::Counts &counts = clients->counts();
        if (one_count_for_each) {
            EXPECT_EQ(counts.right + counts.wrong + counts.dropped, counts.sent);
        }
        return counts;
    }
};

} // namespace mosbench::load::test

#endif
