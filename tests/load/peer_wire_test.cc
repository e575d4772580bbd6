// SPDX-License-Identifier: BSD-3-Clause
//
// The wire to what is not ours: a socket of the test's is at the other end.
#include <gtest/gtest.h>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "native/load/peer_wire.h"
#include "native/nic/bytes.h"
#include "tests/nic/rig.h"

namespace mosbench::load {
namespace {

using Frame = std::vector<uint8_t>;
constexpr uint64_t kStep = 100000;

Frame message_of(const Frame &frame)
{
    Frame message(4 + frame.size());
    nic::store32(message.data(), static_cast<uint32_t>(frame.size()));
    std::copy(frame.begin(), frame.end(), message.begin() + 4);
    return message;
}

struct PeerWireTest : testing::Test {
    const std::string path = testing::TempDir() + "wire-" + std::to_string(getpid());
    Events events;
    std::vector<std::pair<uint64_t, Frame>> to_card;
    uint64_t now = 0;
    int listening = -1, other = -1;
    std::unique_ptr<PeerWire> wire;

    PeerWireTest()
    {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::copy(path.begin(), path.end(), address.sun_path);
        listening = socket(AF_UNIX, SOCK_STREAM, 0);
        EXPECT_EQ(bind(listening, reinterpret_cast<const sockaddr *>(&address), sizeof(address)), 0);
        EXPECT_EQ(listen(listening, 1), 0);
        wire = std::make_unique<PeerWire>(path, 10, events, [this](std::span<const uint8_t> frame) {
            to_card.emplace_back(now, Frame(frame.begin(), frame.end()));
        });
        other = accept(listening, nullptr, nullptr);
    }
    ~PeerWireTest() override
    {
        close(listening);
        close(other);
        std::remove(path.c_str());
    }
    void say(const Frame &bytes) { EXPECT_EQ(write(other, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size())); }
    void run(uint64_t until)
    {
        while (events.next() <= until) {
            now = events.next();
            events.run_one(now);
        }
    }
};

TEST_F(PeerWireTest, AFrameGoesOutAfterItsLength)
{
    const Frame frame = nic::test::some_bytes(1001);
    wire->from_card(frame, 7);
    Frame got(4 + 1001);
    ASSERT_EQ(read(other, got.data(), got.size()), static_cast<ssize_t>(got.size()));
    EXPECT_EQ(got, message_of(frame));
    EXPECT_EQ(wire->sent(), 1u);
}

TEST_F(PeerWireTest, NothingIsLookedAtBeforeTheCardHasSent)
{
    say(message_of(nic::test::some_bytes(100)));
    EXPECT_EQ(events.next(), Events::kNever);
    wire->from_card(nic::test::some_bytes(60), 0);
    run(2 * kStep);
    EXPECT_EQ(to_card.size(), 1u);
}

TEST_F(PeerWireTest, FramesComeOneAfterTheOtherAndShortOnesAreFilledUp)
{
    const Frame small = nic::test::some_bytes(42), large = nic::test::some_bytes(1514);
    wire->from_card(small, 0);
    say(message_of(small));
    say(message_of(large));
    run(2 * kStep);
    ASSERT_EQ(to_card.size(), 2u);
    Frame filled = small;
    filled.resize(60);
    EXPECT_EQ(to_card[0].second, filled);
    EXPECT_EQ(to_card[0].first, kStep + 67); // 84 bytes at 10 Gbit/s
    EXPECT_EQ(to_card[1].second, large);
    EXPECT_EQ(to_card[1].first, kStep + 67 + 1230);
    EXPECT_EQ(wire->received(), 2u);
}

TEST_F(PeerWireTest, AFrameMayComeInPieces)
{
    const Frame frame = nic::test::some_bytes(700), message = message_of(frame);
    wire->from_card(frame, 0);
    say(Frame(message.begin(), message.begin() + 2));
    run(kStep);
    say(Frame(message.begin() + 2, message.begin() + 600));
    run(2 * kStep);
    EXPECT_TRUE(to_card.empty());
    say(Frame(message.begin() + 600, message.end()));
    run(4 * kStep);
    ASSERT_EQ(to_card.size(), 1u);
    EXPECT_EQ(to_card[0].second, frame);
}

TEST_F(PeerWireTest, TheGuestsClockGoesNoFasterThanTheHosts)
{
    const auto began = std::chrono::steady_clock::now();
    wire->from_card(nic::test::some_bytes(60), 0);
    run(200 * kStep);
    EXPECT_GE(std::chrono::steady_clock::now() - began, std::chrono::nanoseconds(199 * kStep));
}

TEST_F(PeerWireTest, WhenTheOtherEndIsGoneTheGuestGoesOnAlone)
{
    wire->from_card(nic::test::some_bytes(60), 0);
    say(message_of(nic::test::some_bytes(80)));
    close(other);
    run(UINT64_MAX - 1);
    EXPECT_TRUE(wire->ended());
    EXPECT_EQ(to_card.size(), 1u);
    wire->from_card(nic::test::some_bytes(60), now);
    EXPECT_EQ(wire->sent(), 1u);
}

TEST_F(PeerWireTest, WhatIsNoFrameEndsTheConnection)
{
    wire->from_card(nic::test::some_bytes(60), 0);
    say({0, 1, 0, 1});
    run(UINT64_MAX - 1);
    EXPECT_TRUE(wire->ended());
    EXPECT_TRUE(to_card.empty());
}

TEST(PeerWireRefusalTest, NobodyListens)
{
    Events events;
    for (const std::string &path : {std::string("/nowhere/wire"), std::string(200, 'w')}) {
        EXPECT_THROW(PeerWire(path, 10, events, [](std::span<const uint8_t>) {}), std::runtime_error);
    }
}

} // namespace
} // namespace mosbench::load
