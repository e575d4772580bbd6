// SPDX-License-Identifier: BSD-3-Clause
//
// Streams over TCP and UDP: data that goes to the guest, data that comes back, and servers that get it wrong.
#include <gtest/gtest.h>

#include "native/load/stream.h"
#include "native/load/udp_stream_clients.h"
#include "native/nic/bytes.h"
#include "tests/load/tcp_server.h"
#include "tests/nic/rig.h"
#include "workloads/micro/src/micro/messages.h"

#include <algorithm>
#include <map>
#include <optional>

namespace mosbench::load {
namespace {

using test::ServerEnd;
using test::TcpClientsTest;

struct StreamTest : TcpClientsTest {
    Order order = {.kind = Kind::stream, .connections = 5, .ports = 2, .requests = 20, .bytes = 100000, .reply_bytes = 70001};
    uint32_t checked = 0, wrong_requests = 0;
    std::function<void(std::string &reply)> spoil = [](std::string &) {};

    void serve()
    {
        listen(
            [this](ServerEnd &end) {
                if (end.unread.size() < MESSAGE_HEAD + order.bytes) {
                    return;
                }
                const std::string pattern = stream_pattern(order), head = end.unread.substr(0, MESSAGE_HEAD);
                const uint32_t connection = get_number(head.data(), 0), number = get_number(head.data(), 1);
                checked++;
                wrong_requests += end.unread != head + pattern.substr(request_place(connection, number), order.bytes);
                end.unread.clear();
                std::string reply = head + pattern.substr(reply_place(connection, number), order.reply_bytes);
                spoil(reply);
                end.connection->send(reply);
            },
            order.ports);
    }
};

TEST_F(StreamTest, DataGoesBothWays)
{
    serve();
    const Clients::Counts counts = run(order);
    EXPECT_EQ(counts.right, 40u);
    EXPECT_EQ(counts.wrong + counts.resets, 0u);
    EXPECT_EQ(checked, 40u);
    EXPECT_EQ(wrong_requests, 0u);
    EXPECT_EQ(ends.size(), 5u);
}

TEST_F(StreamTest, OnlyToTheGuestAndOnlyFromIt)
{
    serve();
    order.reply_bytes = 0;
    EXPECT_EQ(run(order).right, 40u);
    order.reply_bytes = 1 << 20;
    order.bytes = 0;
    order.requests = 2;
    EXPECT_EQ(run(order).right, 4u);
    EXPECT_EQ(wrong_requests, 0u);
}

TEST_F(StreamTest, AWrongHeadByteOrPlaceIsWrong)
{
    const std::function<void(std::string & reply)> wrong[] = {
        [](std::string &reply) { reply[3] ^= 1; },
        [](std::string &reply) { reply[50000] ^= 1; },
        [](std::string &reply) { reply.back() ^= 1; },
        [this](std::string &reply) {
            reply.replace(MESSAGE_HEAD, std::string::npos, stream_pattern(order), 0, order.reply_bytes);
        },
    };
    serve();
    for (const auto &one : wrong) {
        spoil = one;
        EXPECT_EQ(run(order).wrong, 40u);
    }
}

TEST_F(StreamTest, AReplyThatIsShortIsGivenUpAndOneThatIsLongBreaksTheConnection)
{
    order.timeout_ns = 100000000;
    spoil = [](std::string &reply) { reply.pop_back(); };
    serve();
    EXPECT_EQ(run(order).dropped, 40u);
    spoil = [](std::string &reply) { reply += 'x'; };
    EXPECT_EQ(run(order).wrong, 40u);
}

TEST(MessagesTest, PiecesCoverAMessage)
{
    for (const size_t bytes : {0, 1, 1387, 1388, 1389, 2776, 1 << 20}) {
        size_t sum = 0;
        for (uint32_t piece = 0; piece < piece_count(bytes); piece++) {
            EXPECT_LE(piece_bytes(bytes, piece), 1388u);
            sum += piece_bytes(bytes, piece);
        }
        EXPECT_EQ(sum, bytes);
    }
}

struct UdpStreamTest : testing::Test {
    Events events;
    std::vector<Frame> to_card;
    uint64_t now = 0;
    Network network{{.machines = 25, .delay_ns = 1000, .gbits_per_second = 10, .guest = {2, 0, 0, 0, 0, 1}},
                    events,
                    [this](std::span<const uint8_t> frame) { to_card.emplace_back(frame.begin(), frame.end()); }};
    const Order order = {.kind = Kind::udp_stream,
                         .connections = 30,
                         .ports = 3,
                         .requests = 12,
                         .timeout_ns = 10000000,
                         .bytes = 10000,
                         .reply_bytes = 5000};
    bool finished = false;
    std::string result;

    // What the server does with piece `piece` of its reply to request `n` (counted from 0): false sends none.
    using Change = std::function<bool(uint32_t n, uint32_t piece, Frame &bytes, uint64_t &delay)>;
    Clients::Counts serve(const Change &change)
    {
        UdpStreamClients clients(order, 25, events, network, [&] { finished = true; });
        network.on_datagram([&](const Datagram &datagram) { clients.received(datagram, network.now()); });
        clients.start(order, 1000);
        std::map<std::pair<uint32_t, uint32_t>, uint32_t> pieces;
        const std::string pattern = stream_pattern(order);
        uint32_t n = 0;
        for (uint64_t seen = 0; events.next() != Events::kNever;) {
            now = events.next();
            events.run_one(now);
            for (; seen < to_card.size(); seen++) {
                const Frame frame = to_card[seen];
                const uint8_t *const payload = &frame[42];
                const uint32_t c = get_number(payload, 0), number = get_number(payload, 1), piece = get_number(payload, 2);
                const size_t data = nic::load16(&frame[38]) - 8u - PIECE_HEAD;
                EXPECT_EQ(data, piece_bytes(order.bytes, piece));
                EXPECT_EQ(pattern.compare(request_place(c, number) + piece * PIECE_DATA, data,
                                          reinterpret_cast<const char *>(payload + PIECE_HEAD), data),
                          0);
                if (++pieces[{c, number}] == piece_count(order.bytes)) {
                    reply(frame, c, number, n++, pattern, change);
                }
            }
        }
        EXPECT_TRUE(finished);
        const Clients::Counts &counts = clients.counts();
        EXPECT_EQ(counts.sent, 36u);
        EXPECT_EQ(counts.right + counts.dropped, counts.sent);
        return counts;
    }
    void reply(const Frame &frame, uint32_t c, uint32_t number, uint32_t n, const std::string &pattern, const Change &change)
    {
        const nic::test::Flow flow = {nic::load32(&frame[30]), nic::load32(&frame[26]), nic::load16(&frame[36]),
                                      nic::load16(&frame[34])};
        for (uint32_t piece = 0; piece < piece_count(order.reply_bytes); piece++) {
            Frame bytes(PIECE_HEAD + piece_bytes(order.reply_bytes, piece));
            put_head(bytes.data(), c, number);
            put_number(bytes.data(), 2, piece);
            std::copy_n(pattern.begin() + static_cast<long>(reply_place(c, number) + piece * PIECE_DATA),
                        bytes.size() - PIECE_HEAD, bytes.begin() + PIECE_HEAD);
            uint64_t delay = 0;
            if (change(n, piece, bytes, delay)) {
                network.from_card(nic::test::udp_frame(flow, bytes), now + delay);
            }
        }
    }
};

TEST_F(UdpStreamTest, DataGoesBothWays)
{
    const auto counts = serve([](uint32_t, uint32_t, Frame &, uint64_t &) { return true; });
    EXPECT_EQ(counts.right, 36u);
    EXPECT_EQ(counts.wrong + counts.late, 0u);
    EXPECT_EQ(to_card.size(), 36u * piece_count(order.bytes));
}

TEST_F(UdpStreamTest, APieceThatIsLostWrongTwiceOrLateEndsInCounts)
{
    const auto counts = serve([this](uint32_t n, uint32_t piece, Frame &bytes, uint64_t &delay) {
        if (piece != 2) {
            return true;
        }
        switch (n % 6) {
        case 0:
            return false;
        case 1:
            bytes[500] ^= 1;
            return true;
        case 2:
            bytes.pop_back();
            return true;
        case 3:
            put_number(bytes.data(), 2, 9);
            return true;
        case 4:
            delay = 20000000;
            return true;
        }
        return true;
    });
    EXPECT_EQ(counts.right, 6u);
    EXPECT_EQ(counts.dropped, 30u);
    EXPECT_EQ(counts.wrong, 18u);
    EXPECT_EQ(counts.late, 6u);
}

} // namespace
} // namespace mosbench::load
