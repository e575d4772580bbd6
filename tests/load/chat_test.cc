// SPDX-License-Identifier: BSD-3-Clause
//
// A chat: rooms whose members come to one port or to several, and servers that pass messages on wrongly.
#include <gtest/gtest.h>

#include "tests/load/tcp_server.h"
#include "workloads/micro/src/micro/messages.h"

#include <map>
#include <set>

namespace mosbench::load {
namespace {

using test::ServerEnd;
using test::TcpClientsTest;

struct ChatTest : TcpClientsTest {
    Order order = {.kind = Kind::chat, .connections = 14, .ports = 3, .requests = 40, .bytes = 40, .members = 4};
    std::map<uint32_t, std::map<uint32_t, ServerEnd *>> rooms; // connection -> its end, by room
    uint32_t passed_on = 0;
    // What a member gets of a message; nothing: it gets none.
    std::function<std::string(uint32_t to, const std::string &message)> pass = [](uint32_t, const std::string &message) {
        return message;
    };

    uint32_t room(uint32_t connection) const { return room_of(connection, order.ports, order.members, order.apart != 0); }
    size_t size(uint32_t wanted) const
    {
        size_t count = 0;
        for (uint32_t c = 0; c < order.connections; c++) {
            count += room(c) == wanted;
        }
        return count;
    }
    void message(ServerEnd &end, const std::string &text)
    {
        const uint32_t connection = get_number(text.data(), 0), number = get_number(text.data(), 1);
        auto &members = rooms[room(connection)];
        if (number != 0) {
            for (const auto &[member, other] : members) {
                other->connection->send(pass(member, text));
                passed_on++;
            }
            return;
        }
        members[connection] = &end;
        if (members.size() == size(room(connection))) {
            for (const auto &[member, other] : members) {
                other->connection->send(numbered_bytes(order, member, 0));
            }
        }
    }
    void serve()
    {
        listen(
            [this](ServerEnd &end) {
                while (end.unread.size() >= order.bytes) {
                    const std::string text = end.unread.substr(0, order.bytes);
                    end.unread.erase(0, order.bytes);
                    message(end, text);
                }
            },
            order.ports);
    }
};

TEST_F(ChatTest, AllMembersGetAllMessages)
{
    serve();
    const Clients::Counts counts = run(order);
    EXPECT_EQ(counts.right, 120u);
    EXPECT_EQ(counts.wrong + counts.resets + counts.dropped, 0u);
    EXPECT_GT(passed_on, 120u * 2); // the last room has two members
    EXPECT_LE(passed_on, 120u * 4);
}

TEST_F(ChatTest, OrdersFollowEachOther)
{
    order.requests = 0;
    serve();
    EXPECT_EQ(run(order).sent, 0u);
    EXPECT_EQ(ends.size(), 14u);
    order.requests = 10;
    EXPECT_EQ(again(order).right, 30u);
    EXPECT_EQ(again(order).right, 30u);
    EXPECT_EQ(ends.size(), 14u);
}

TEST_F(ChatTest, MembersComeToOnePortOrToSeveral)
{
    for (uint32_t connection = 0; connection < order.connections; connection++) {
        EXPECT_EQ(room(connection), connection / 4);
    }
    order.apart = 0;
    std::map<uint32_t, std::set<uint32_t>> ports;
    for (uint32_t connection = 0; connection < order.connections; connection++) {
        ports[room(connection)].insert(connection % 3);
    }
    EXPECT_EQ(ports.size(), 5u);
    for (const auto &[name, its] : ports) {
        EXPECT_EQ(its.size(), 1u) << name;
    }
    serve();
    EXPECT_EQ(run(order).right, 120u);
}

TEST_F(ChatTest, AMessageThatAMemberDoesNotGetIsDropped)
{
    order.timeout_ns = 50000000;
    order.connections = order.members = 3;
    order.ports = order.requests = 1;
    pass = [](uint32_t to, const std::string &message) { return to == 1 ? std::string() : message; };
    serve();
    const Clients::Counts counts = run(order);
    EXPECT_EQ(counts.dropped, 1u);
    EXPECT_EQ(counts.right, 0u);
}

TEST_F(ChatTest, AMessageThatNobodySaidIsWrong)
{
    order.timeout_ns = 50000000;
    order.connections = order.members = 3;
    order.ports = 1;
    order.requests = 3;
    one_count_for_each = false; // members who said nothing count what they should not hear
    const std::function<std::string(const std::string &)> wrong[] = {
        [](const std::string &message) { return std::string(message).replace(20, 1, 1, static_cast<char>(message[20] ^ 1)); },
        [this](const std::string &) { return numbered_bytes(order, 1, 77); },
        [this](const std::string &) { return numbered_bytes(order, 99, 1); },
        [](const std::string &message) { return message + message; },
    };
    serve();
    for (const auto &one : wrong) {
        rooms.clear();
        pass = [&](uint32_t, const std::string &message) { return one(message); };
        EXPECT_GT(run(order).wrong, 0u);
    }
}

} // namespace
} // namespace mosbench::load
