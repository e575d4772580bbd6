// SPDX-License-Identifier: BSD-3-Clause
//
// lwIP over the net behind the wire: the machines and a server with the guest's address, without a card between them.
#include <gtest/gtest.h>

#include "native/load/network.h"
#include "native/load/tcp_stack.h"
#include "tests/load/toy_server.h"

namespace mosbench::load {
namespace {

using test::ToyNet;

// An end that sends bytes that are known, takes the other end's, and closes when it has all.
struct End final : TcpUser {
    std::unique_ptr<TcpConnection> connection;
    std::string outgoing, incoming;
    bool up = false, over = false, lost = false;

    void begin() { connection->send(outgoing); }
    void connected() override
    {
        up = true;
        begin();
    }
    void received(std::span<const uint8_t> bytes) override { incoming.append(bytes.begin(), bytes.end()); }
    void ended() override { over = true; }
    void failed() override { lost = true; }
};

std::string some_text(size_t bytes, uint64_t seed)
{
    std::string text(bytes, '\0');
    for (char &letter : text) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        letter = static_cast<char>(seed >> 56);
    }
    return text;
}

constexpr TcpStack::Address kServer = {kGuestAddress, 80}, kClient = {kFirstMachine + 3, 20000};

struct TcpStackTest : testing::Test {
    struct Exchange {
        uint64_t ns, lost;
    };
    // A megabyte each way.
    Exchange exchange(uint32_t loss_per_million)
    {
        ToyNet net(loss_per_million);
        End client, server;
        client.outgoing = some_text(1 << 20, 1);
        server.outgoing = some_text(1 << 20, 2);
        net.stack.listen(kServer, [&](std::unique_ptr<TcpConnection> made) {
            server.connection = std::move(made);
            server.connection->set_user(server);
            server.begin();
        });
        client.connection = net.stack.connect(client, kClient, kServer);
        net.run_until([&] { return client.incoming.size() == 1 << 20 && server.incoming.size() == 1 << 20; });
        EXPECT_TRUE(client.incoming == server.outgoing);
        EXPECT_TRUE(server.incoming == client.outgoing);
        const Exchange done = {net.now, net.network.counts().lost};
        client.connection->close();
        server.connection->close();
        net.run();
        EXPECT_FALSE(client.lost || server.lost);
        return done;
    }
};

TEST_F(TcpStackTest, AMegabyteEachWay)
{
    const Exchange done = exchange(0);
    EXPECT_LT(done.ns, 100000000u);
    EXPECT_EQ(done.lost, 0u);
}

TEST_F(TcpStackTest, AMegabyteEachWayOfWhichPacketsAreLostComesWhole)
{
    EXPECT_GT(exchange(1000).lost, 0u);
    EXPECT_GT(exchange(20000).lost, 10u);
}

// A server that answers "question" in two pieces and closes: what Apache does.
TEST_F(TcpStackTest, WhatComesFirstIsAcknowledgedAtOnce)
{
    ToyNet net;
    struct Server final : TcpUser {
        std::unique_ptr<TcpConnection> connection;
        void connected() override {}
        void received(std::span<const uint8_t>) override { connection->send("head"); }
        void ended() override {}
        void failed() override {}
    } server;
    End client;
    client.outgoing = "question";
    net.stack.listen(kServer, [&](std::unique_ptr<TcpConnection> made) {
        server.connection = std::move(made);
        server.connection->set_user(server);
    });
    client.connection = net.stack.connect(client, kClient, kServer);
    net.run_until([&] { return client.up; });
    net.run_until([&] { return net.frames_to_guest == 3; }); // SYN, its acknowledgement, the question
    EXPECT_EQ(client.incoming, "");
    net.run_until([&] { return client.incoming == "head"; });
    const uint64_t then = net.now;
    net.run_until([&] { return net.frames_to_guest == 4; }); // lwIP by itself takes up to a quarter of a second
    EXPECT_LT(net.now, then + 10000);
    server.connection->send("tail");
    server.connection->close();
    net.run_until([&] { return client.over; });
    client.connection->close();
    net.run();
    EXPECT_EQ(client.incoming, "headtail");
    EXPECT_FALSE(client.lost);
}

// Once it has answered, an acknowledgement goes with the next answer.
TEST_F(TcpStackTest, WhatComesLaterIsAcknowledgedWithTheAnswer)
{
    ToyNet net;
    End client;
    std::unique_ptr<TcpConnection> server;
    net.stack.listen(kServer, [&](std::unique_ptr<TcpConnection> made) { server = std::move(made); });
    client.connection = net.stack.connect(client, kClient, kServer);
    net.run_until([&] { return client.up && server; });
    for (const char *const word : {"first", "second", "third"}) {
        const uint64_t before = net.frames_to_guest;
        client.incoming.clear();
        server->send(word);
        net.run_until([&] { return client.incoming == word; });
        client.connection->send("answer");
        net.run(net.now + 1000000);
        EXPECT_EQ(net.frames_to_guest - before, word == std::string_view("first") ? 2u : 1u) << word;
    }
}

// Without an answer an acknowledgement goes after 40 ms at the latest; lwIP by itself sends those that are due each 250 ms.
TEST_F(TcpStackTest, WhatIsNotAnsweredIsAcknowledgedAfterALittle)
{
    ToyNet net;
    End client;
    client.outgoing = "question";
    std::unique_ptr<TcpConnection> server;
    net.stack.listen(kServer, [&](std::unique_ptr<TcpConnection> made) { server = std::move(made); });
    client.connection = net.stack.connect(client, kClient, kServer);
    net.run_until([&] { return client.up && server; });
    server->send("first"); // acknowledged at once
    net.run_until([&] { return client.incoming == "first"; });
    client.connection->send("answer");
    net.run(net.now + 1000000);
    int by_themselves = 0;
    for (int i = 0; i < 8; i++) { // at different times of lwIP's clock
        const uint64_t before = net.frames_to_guest;
        client.incoming.clear();
        server->send("word");
        net.run_until([&] { return client.incoming == "word"; });
        const uint64_t then = net.now;
        net.run_until([&] { return net.frames_to_guest > before; });
        EXPECT_LT(net.now, then + 40100000);
        by_themselves += net.now >= then + 40000000;
        net.run(net.now + 1000000);
        EXPECT_EQ(net.frames_to_guest, before + 1);
    }
    EXPECT_GE(by_themselves, 6);
}

TEST_F(TcpStackTest, APortWhereNobodyListensIsAFailureAndAPortInUseIsNone)
{
    ToyNet net;
    End client, other;
    client.connection = net.stack.connect(client, kClient, kServer);
    ASSERT_TRUE(client.connection);
    EXPECT_FALSE(net.stack.connect(other, kClient, kServer));
    net.run();
    EXPECT_FALSE(client.up);
    EXPECT_TRUE(client.lost);
}

TEST_F(TcpStackTest, WhoeverForgetsAConnectionResetsIt)
{
    ToyNet net;
    End client, server;
    net.stack.listen(kServer, [&](std::unique_ptr<TcpConnection> made) {
        server.connection = std::move(made);
        server.connection->set_user(server);
    });
    client.connection = net.stack.connect(client, kClient, kServer);
    net.run_until([&] { return client.up && server.connection; });
    server.connection.reset();
    net.run();
    EXPECT_TRUE(client.lost);
}

TEST_F(TcpStackTest, OneThatClosesIsHeardOf)
{
    ToyNet net;
    End client, server;
    net.stack.listen(kServer, [&](std::unique_ptr<TcpConnection> made) {
        server.connection = std::move(made);
        server.connection->set_user(server);
        server.connection->send("goodbye");
        server.connection->close();
    });
    client.connection = net.stack.connect(client, kClient, kServer);
    net.run_until([&] { return client.over; });
    EXPECT_EQ(client.incoming, "goodbye");
    client.connection->close();
    net.run();
    EXPECT_FALSE(client.lost);
}

} // namespace
} // namespace mosbench::load
