// SPDX-License-Identifier: BSD-3-Clause
//
// The machines behind the wire, without a card: what they answer, and what clients count against a server that is right, wrong,
// late or silent.
#include <gtest/gtest.h>

#include "native/load/network.h"
#include "native/load/order.h"
#include "native/load/settings_file.h"
#include "native/load/udp_clients.h"
#include "native/nic/bytes.h"
#include "tests/nic/rig.h"

#include <algorithm>
#include <fstream>

namespace mosbench::load {
namespace {

using nic::test::ip_remainder;
using nic::test::l4_remainder;

constexpr Mac kGuest = {2, 0, 0, 0, 0, 1};

struct NetworkTest : testing::Test {
    Events events;
    std::vector<std::pair<uint64_t, Frame>> to_card;
    uint64_t now = 0;
    Network network{{.machines = 25, .delay_ns = 1000, .gbits_per_second = 10, .guest = kGuest},
                    events,
                    [this](std::span<const uint8_t> frame) { to_card.emplace_back(now, Frame(frame.begin(), frame.end())); }};

    void run(uint64_t until = UINT64_MAX - 1)
    {
        while (events.next() <= until) {
            now = events.next();
            events.run_one(now);
        }
    }
};

Frame arp_request(uint32_t wanted)
{
    Frame frame(60);
    std::fill_n(frame.begin(), 6, 0xFF);
    std::copy(kGuest.begin(), kGuest.end(), frame.begin() + 6);
    const uint8_t rest[] = {8, 6, 0, 1, 8, 0, 6, 4, 0, 1};
    std::copy(std::begin(rest), std::end(rest), frame.begin() + 12);
    std::copy(kGuest.begin(), kGuest.end(), frame.begin() + 22);
    nic::store32(&frame[28], kGuestAddress);
    nic::store32(&frame[38], wanted);
    return frame;
}

TEST_F(NetworkTest, MachinesAnswerForTheirAddressesAndNoOther)
{
    network.from_card(arp_request(kFirstMachine + 24), 0);
    network.from_card(arp_request(kFirstMachine + 25), 0);
    network.from_card(arp_request(kControlAddress), 0);
    run();
    ASSERT_EQ(to_card.size(), 2u);
    const Frame &reply = to_card[0].second;
    EXPECT_TRUE(std::equal(kGuest.begin(), kGuest.end(), reply.begin()));
    EXPECT_EQ(nic::load16(&reply[20]), 2);
    EXPECT_EQ(nic::load32(&reply[28]), kFirstMachine + 24);
    EXPECT_TRUE(std::equal(kGuest.begin(), kGuest.end(), reply.begin() + 32));
    EXPECT_EQ(nic::load32(&reply[38]), kGuestAddress);
    EXPECT_EQ(to_card[0].first, 2 * 1000u + 2 * 67); // two delays and 84 bytes each way
}

TEST_F(NetworkTest, ADatagramIsRightAndTakesItsTime)
{
    const Frame payload = nic::test::some_bytes(1001);
    network.send({kFirstMachine, kGuestAddress, 20000, 80, payload}, 500);
    network.send({kFirstMachine + 1, kGuestAddress, 20000, 80, payload}, 500);
    run();
    ASSERT_EQ(to_card.size(), 2u);
    EXPECT_EQ(ip_remainder(to_card[0].second), 0);
    EXPECT_EQ(l4_remainder(to_card[0].second), 0);
    EXPECT_EQ(to_card[0].first, 1500u + 854);
    EXPECT_EQ(to_card[1].first, 1500u + 2 * 854); // one wire
}

TEST_F(NetworkTest, DamagedOnesAndStrangersAreCounted)
{
    uint32_t got = 0;
    network.on_datagram([&](const Datagram &datagram) {
        got++;
        EXPECT_EQ(datagram.payload.size(), 5u);
        EXPECT_EQ(datagram.destination_port, 20001);
    });
    const nic::test::Flow flow = {kGuestAddress, kFirstMachine, 80, 20001};
    const Frame right = nic::test::udp_frame(flow, nic::test::some_bytes(5));
    Frame damaged = right;
    damaged[44] ^= 1;
    const Frame stranger = nic::test::udp_frame({kGuestAddress, 1, 2, 3}, {});
    for (const Frame &frame : {right, damaged, stranger, Frame(60)}) {
        network.from_card(frame, 0);
    }
    run();
    EXPECT_EQ(got, 1u);
    EXPECT_EQ(network.counts().bad, 1u);
    EXPECT_EQ(network.counts().unknown, 2u);
}

TEST_F(NetworkTest, AMirrorSendsBackFromTheOtherSideWithRightChecksums)
{
    constexpr uint32_t kHere = 10u << 24 | 2u << 8 | 7, kThere = 10u << 24 | 3u << 8 | 7;
    const Frame payload = nic::test::some_bytes(501);
    network.from_card(nic::test::tcp_frame({kGuestAddress, kHere, 1, 2}, payload), 0);
    network.from_card(nic::test::udp_frame({kGuestAddress, kThere, 3, 4}, payload), 10000);
    network.from_card(arp_request(kThere), 20000);
    run();
    ASSERT_EQ(to_card.size(), 3u);
    const Frame &tcp = to_card[0].second, &udp = to_card[1].second;
    EXPECT_EQ(tcp, [&] {
        Frame wanted = nic::test::tcp_frame({kThere, kGuestAddress, 1, 2}, payload);
        std::copy(tcp.begin(), tcp.begin() + 12, wanted.begin());
        return wanted;
    }());
    EXPECT_EQ(nic::load32(&udp[26]), kHere);
    EXPECT_EQ(ip_remainder(udp), 0);
    EXPECT_EQ(l4_remainder(udp), 0);
    EXPECT_TRUE(std::equal(kGuest.begin(), kGuest.end(), udp.begin()));
}

TEST_F(NetworkTest, TheLinkIsBusyForAsLongAsFramesTake)
{
    const std::vector<uint8_t> payload(1000);
    for (uint32_t i = 0; i < 3; i++) {
        network.send({kFirstMachine, kGuestAddress, 1, 2, payload}, 0);
    }
    network.from_card(Frame(500), 0);
    EXPECT_FALSE(network.empty());
    run();
    EXPECT_TRUE(network.empty());
    EXPECT_NEAR(static_cast<double>(network.counts().to_card_ns), 3 * (1042 + 24) * 0.8, 3);
    EXPECT_NEAR(static_cast<double>(network.counts().from_card_ns), (500 + 24) * 0.8, 1);
    EXPECT_EQ(to_card.back().first, network.counts().to_card_ns + 1000);
}

struct UdpClientsTest : NetworkTest {
    std::vector<Order> further;           // that follow, each when the one before has ended
    std::vector<Clients::Counts> counted; // of each order
    std::vector<std::string> results;     // of each order

    // What the server does with a request: the payload of its reply, or nothing; the delay of the reply in nanoseconds.
    template <typename Server> Clients::Counts serve(const Order &order, Server server)
    {
        UdpClients clients(order, 25, events, network, [&] {
            counted.push_back(clients.counts());
            results.push_back(clients.result());
            if (counted.size() <= further.size()) {
                const uint64_t at = now + 5000;
                events.at(at, [&, at] { clients.start(further.at(counted.size() - 1), at); });
            }
        });
        network.on_datagram([&](const Datagram &datagram) { clients.received(datagram, network.now()); });
        clients.start(order, 1000);
        uint64_t seen = 0;
        while (events.next() != Events::kNever) {
            now = events.next();
            events.run_one(now);
            for (; seen < to_card.size(); seen++) {
                const Frame &frame = to_card[seen].second;
                uint64_t delay = 0;
                Frame reply(frame.begin() + 42, frame.begin() + 42 + nic::load16(&frame[38]) - 8);
                if (server(reply, delay)) {
                    const nic::test::Flow flow = {nic::load32(&frame[30]), nic::load32(&frame[26]), nic::load16(&frame[36]),
                                                  nic::load16(&frame[34])};
                    network.from_card(nic::test::udp_frame(flow, reply), now + delay);
                }
            }
        }
        EXPECT_EQ(counted.size(), 1 + further.size());
        return clients.counts();
    }
};

TEST_F(UdpClientsTest, AServerThatIsRight)
{
    const auto counts =
        serve({.connections = 60, .ports = 7, .requests = 11, .bytes = 100}, [](Frame &, uint64_t &) { return true; });
    EXPECT_EQ(counts.sent, 7u * 11);
    EXPECT_EQ(counts.right, 7u * 11);
    EXPECT_EQ(counts.wrong + counts.dropped + counts.late, 0u);
    std::array<uint32_t, 7> at_port{};
    for (const auto &[ns, frame] : to_card) {
        at_port.at(nic::load16(&frame[36]) - 11211u)++;
    }
    for (const uint32_t requests : at_port) {
        EXPECT_EQ(requests, 11u);
    }
}

TEST_F(UdpClientsTest, OneThatIsWrongLateOrSilentEndsInCounts)
{
    uint32_t n = 0;
    const auto counts = serve({.connections = 4, .requests = 20, .timeout_ns = 1000000}, [&](Frame &reply, uint64_t &delay) {
        switch (n++ % 5) {
        case 0:
            reply[20] ^= 1;
            return true;
        case 1:
            reply.pop_back();
            return true;
        case 2:
            return false;
        case 3:
            delay = 2000000;
            return true;
        }
        return true;
    });
    EXPECT_EQ(counts.sent, 20u);
    EXPECT_EQ(counts.right, 4u);
    EXPECT_EQ(counts.wrong, 8u);
    EXPECT_EQ(counts.late, 4u);
    EXPECT_EQ(counts.dropped, 16u);
}

// Frame header, then text.
Frame memcached_reply(const Frame &request, const std::string &text)
{
    Frame reply(request.begin(), request.begin() + 8);
    reply.insert(reply.end(), text.begin(), text.end());
    return reply;
}

TEST_F(UdpClientsTest, BatchesOfMemcached)
{
    uint32_t wrong_text = 0;
    const auto counts = serve({.kind = Kind::memcached, .connections = 6, .ports = 3, .requests = 50, .batch = 20},
                              [&](Frame &reply, uint64_t &) {
                                  const std::string text(reply.begin() + 8, reply.end());
                                  wrong_text += text.size() != 18 || text.substr(0, 5) != "get c" || text.substr(16) != "\r\n";
                                  reply = memcached_reply(reply, "END\r\n");
                                  return true;
                              });
    EXPECT_EQ(wrong_text, 0u);
    EXPECT_EQ(counts.sent, 150u);
    EXPECT_EQ(counts.right, 150u);
    EXPECT_EQ(counts.wrong + counts.dropped + counts.late, 0u);
    EXPECT_EQ(to_card[0].second.size(), 68u); // as in the paper
}

TEST_F(UdpClientsTest, AFlowOfMemcachedGoesOnFromOrderToOrder)
{
    Order order = {.kind = Kind::memcached, .connections = 6, .ports = 3, .requests = 100, .batch = 20, .flow = 1};
    further = {order, order};
    further[0].requests = 50;
    further[1].requests = further[1].flow = 0;
    uint32_t asked = 0;
    const auto last = serve(order, [&](Frame &reply, uint64_t &delay) {
        EXPECT_TRUE(asked >= 60 || to_card.size() <= 60) << "one batch for each port, and the others when replies come";
        asked++;
        reply = memcached_reply(reply, "END\r\n");
        delay = 3000;
        return true;
    });
    EXPECT_EQ(counted.at(0).right, 300u);
    EXPECT_GE(counted.at(1).right, 150u);
    EXPECT_LT(counted[1].right, 170u) << "to the end of a batch";
    EXPECT_GT(last.right, 0u);
    EXPECT_LE(last.right, 120u) << "what was under way";
    uint64_t between = 0;
    for (const std::string &result : results) {
        const auto number = [&](const std::string &name) { return std::stoull(result.substr(result.find(name) + name.size())); };
        between += number("\"between_right\":");
        EXPECT_EQ(number("\"between_sent\":"), number("\"between_right\":"));
        EXPECT_EQ(number("\"between_wrong\":"), 0u);
    }
    EXPECT_GT(between, 0u);
    EXPECT_EQ(counted[0].right + counted[1].right + last.right + between, asked);
    for (const Clients::Counts &counts : counted) {
        EXPECT_EQ(counts.wrong + counts.dropped + counts.late, 0u);
    }
}

TEST_F(UdpClientsTest, AMemcachedThatFindsSomethingLosesOneAndAnswersTwice)
{
    uint32_t n = 0;
    const auto counts = serve({.kind = Kind::memcached, .requests = 40, .batch = 20}, [&](Frame &reply, uint64_t &delay) {
        const uint32_t which = n++;
        reply = memcached_reply(reply, which == 3 ? "VALUE a 0 1\r\n1\r\nEND\r\n" : "END\r\n");
        delay = which == 7 ? 200000000 : 0;
        return which != 5;
    });
    EXPECT_EQ(counts.sent, 40u);
    EXPECT_EQ(counts.right, 37u);
    EXPECT_EQ(counts.wrong, 1u);
    EXPECT_EQ(counts.dropped, 3u);
    EXPECT_EQ(counts.late, 1u);
}

TEST_F(UdpClientsTest, AReplyThatIsThrownAwayCountsAsNothing)
{
    const auto counts = serve({.kind = Kind::memcached, .requests = 40, .batch = 20, .ignore = 1}, [](Frame &reply, uint64_t &) {
        reply = memcached_reply(reply, "END\r\n");
        return true;
    });
    EXPECT_EQ(counts.sent, 40u);
    EXPECT_EQ(counts.right, 39u);
    EXPECT_EQ(counts.wrong + counts.dropped + counts.late, 0u);
}

TEST(OrderTest, IsReadOrRefused)
{
    std::string problem;
    const auto order = parse_order("udp connections=96 ports=48 requests=20\n", 25, nullptr, problem);
    ASSERT_TRUE(order);
    EXPECT_EQ(order->connections, 96u);
    EXPECT_EQ(order->ports, 48u);
    for (const char *wrong : {"",
                              "smtp",
                              "udp connections=0",
                              "udp connections",
                              "udp colour=1",
                              "udp requests=1x",
                              "udp close=1",
                              "udp connections=1000000 bytes=5000",
                              "http bytes=64",
                              "memcached batch=0",
                              "again requests=1",
                              "stream bytes=1048577",
                              "stream members=2",
                              "tcp reply_bytes=8",
                              "chat bytes=7",
                              "chat members=0",
                              "chat apart=2",
                              "udp-stream close=1",
                              "tcp flow=1",
                              "http flow=1 rate=9"}) {
        problem.clear();
        EXPECT_FALSE(parse_order(wrong, 25, nullptr, problem)) << wrong;
        EXPECT_FALSE(problem.empty());
    }
    problem.clear();
    EXPECT_FALSE(parse_order("udp connections=50000", 1, nullptr, problem));
    EXPECT_NE(problem.find("ports"), std::string::npos);
}

TEST(OrderTest, OneThatGoesOnMayChangeItsAmountOnly)
{
    std::string problem;
    const auto order = parse_order("postgresql connections=3 rows=7 batch=2", 25, nullptr, problem);
    ASSERT_TRUE(order);
    const auto more = parse_order("again requests=9 batch=4", 25, &*order, problem);
    ASSERT_TRUE(more);
    EXPECT_EQ(more->connections, 3u);
    EXPECT_EQ(more->rows, 7u);
    EXPECT_EQ(more->requests, 9u);
    EXPECT_EQ(more->batch, 4u);
    EXPECT_FALSE(parse_order("again connections=4", 25, &*order, problem));
}

TEST(HistogramTest, PercentilesAreNotFarOff)
{
    Histogram histogram;
    EXPECT_EQ(histogram.percentile(0.5), 0u);
    for (uint64_t i = 1; i <= 100000; i++) {
        histogram.add(i);
    }
    EXPECT_NEAR(static_cast<double>(histogram.percentile(0.5)), 50000, 6300);
    EXPECT_NEAR(static_cast<double>(histogram.percentile(0.99)), 99000, 12500);
    histogram.add(UINT64_MAX);
}

struct SettingsFileTest : testing::Test {
    std::string path = testing::TempDir() + "nic-settings";
    WorldSettings load(const std::string &text)
    {
        std::ofstream(path) << text;
        return load_settings(path);
    }
    ~SettingsFileTest() override { std::remove(path.c_str()); }
};

TEST_F(SettingsFileTest, OnlyTheCardsKeysAreRead)
{
    const WorldSettings settings =
        load("name a machine\nnic_steering spread\nl2_kib 512\nnic_receive_mpps_1_queue 10\nnic_clients 3\n"
             "nic_receive_mpps_many_queues 5\nnic_receive_many_queues 24\nnic_fifo_kib 64\nnic_queues 8\n");
    EXPECT_EQ(settings.card.steering, nic::Steering::spread);
    EXPECT_DOUBLE_EQ(settings.card.receive.ns + settings.card.receive.ns_per_queue, 100);
    EXPECT_DOUBLE_EQ(settings.card.receive.ns + 24 * settings.card.receive.ns_per_queue, 200);
    EXPECT_EQ(settings.card.receive.most_queues, 24u);
    EXPECT_EQ(settings.card.transmit.most_queues, 16u);
    EXPECT_EQ(settings.card.fifo_bytes, 65536u);
    EXPECT_EQ(settings.card.queues, 8u);
    EXPECT_EQ(settings.clients, 3u);
    const nic::Settings free = load("nic_fifo_kib 64\nnic_limits 0\n").card;
    EXPECT_EQ(free.receive.ns, 0);
    EXPECT_EQ(free.transmit.ns_per_queue, 0);
    EXPECT_EQ(free.fifo_bytes, 512u << 10);
}

TEST_F(SettingsFileTest, WhatIsWrongIsNamed)
{
    for (const char *wrong : {"nic_colour 1", "nic_clients 0", "nic_clients many", "nic_steering left", "nic_queues 65",
                              "nic_queues 0", "nic_receive_mpps_1_queue nan", "nic_limits 2", "nic_receive_mpps_many_queues 6"}) {
        try {
            load(wrong);
            FAIL() << wrong;
        } catch (const std::runtime_error &error) {
            EXPECT_NE(std::string(error.what()).find(std::string(wrong).substr(0, 10)), std::string::npos) << error.what();
        }
    }
    EXPECT_THROW(load_settings("/nowhere"), std::runtime_error);
}

} // namespace
} // namespace mosbench::load
