// SPDX-License-Identifier: BSD-3-Clause
//
// The two hashes, with published and computed values.
#include <gtest/gtest.h>

#include "native/nic/bytes.h"
#include "native/nic/flow_director.h"
#include "native/nic/rss.h"
#include "tests/nic/rig.h"

namespace mosbench::nic::test {
namespace {

constexpr Flow kFirst = {address(10, 0, 0, 2), address(10, 0, 0, 1), 40000, 80};
constexpr Flow kSecond = {address(192, 168, 42, 10), address(192, 168, 42, 11), 8011, 11211};

// The key of Linux 2.6.35's driver, as it stands in RSSRK.
constexpr uint32_t kKeyOf2635[10] = {0xE291D73D, 0x1805EC6C, 0x2A94B30D, 0xA54F2BEC, 0xEA49AF7C,
                                     0xE214AD3D, 0xB855AABE, 0x6A3E67EA, 0x14364D17, 0x3BED200D};

uint32_t hash_of(const RssKey &key, const Flow &flow)
{
    uint8_t input[12];
    store32(input, flow.source);
    store32(input + 4, flow.destination);
    store16(input + 8, flow.source_port);
    store16(input + 10, flow.destination_port);
    return toeplitz(key, input);
}

TEST(RssTest, MicrosoftsPublishedValues)
{
    const RssKey key = {0x6D, 0x5A, 0x56, 0xDA, 0x25, 0x5B, 0x0E, 0xC2, 0x41, 0x67, 0x25, 0x3D, 0x43, 0xA3,
                        0x8F, 0xB0, 0xD0, 0xCA, 0x2B, 0xCB, 0xAE, 0x7B, 0x30, 0xB4, 0x77, 0xCB, 0x2D, 0xA3,
                        0x80, 0x30, 0xF2, 0x0C, 0x6A, 0x42, 0xB7, 0x3B, 0xBE, 0xAC, 0x01, 0xFA};
    EXPECT_EQ(hash_of(key, {address(66, 9, 149, 187), address(161, 142, 100, 80), 2794, 1766}), 0x51CCC178u);
    EXPECT_EQ(hash_of(key, {address(199, 92, 111, 2), address(65, 69, 140, 83), 14230, 4739}), 0xC626B0EAu);
}

TEST(RssTest, FlowsReachTheQueuesOfTheDriversTable)
{
    Rig rig;
    for (uint32_t i = 0; i < 10; i++) {
        rig.write(reg::RSSRK + i * 4, kKeyOf2635[i]);
    }
    for (uint32_t i = 0; i < 32; i++) { // in reversed fours, as that driver writes them
        const uint32_t base = i * 4 % 16;
        rig.write(reg::RETA + i * 4, base << 24 | (base + 1) << 16 | (base + 2) << 8 | (base + 3));
    }
    rig.write(reg::MRQC, bits::MRQC_RSS | bits::MRQC_TCP4 | bits::MRQC_UDP4 | bits::MRQC_IP4);
    const RssResult first = rss(rig.card.state(), parse(tcp_frame(kFirst, {})));
    EXPECT_EQ(first.hash, 0xA84B11D9u);
    EXPECT_EQ(first.queue, 10);
    EXPECT_EQ(first.type, 1);
    const RssResult second = rss(rig.card.state(), parse(tcp_frame(kSecond, {})));
    EXPECT_EQ(second.hash, 0x502487C6u);
    EXPECT_EQ(second.queue, 5);
    const RssResult datagram = rss(rig.card.state(), parse(udp_frame(kSecond, {})));
    EXPECT_EQ(datagram.hash, second.hash);
    EXPECT_EQ(datagram.type, 7);
    rig.write(reg::MRQC, bits::MRQC_RSS | bits::MRQC_TCP4 | bits::MRQC_IP4); // as Linux 6.1: ports of TCP only
    EXPECT_EQ(rss(rig.card.state(), parse(udp_frame(kSecond, {}))).type, 2);
    EXPECT_NE(rss(rig.card.state(), parse(udp_frame(kSecond, {}))).hash, second.hash);
}

TEST(FlowDirectorHashTest, ValuesOfTheDriversFunction)
{
    const auto hash = [](const Flow &flow) {
        return flow_hash(2, flow.source, flow.destination, flow.source_port, flow.destination_port);
    };
    EXPECT_EQ(hash(kFirst), 0x38805A3Au);
    EXPECT_EQ(hash(kSecond), 0x5BE3163Du);
    EXPECT_EQ(hash({address(10, 0, 0, 26), address(10, 0, 0, 1), 50001, 5432}), 0x28163B72u);
}

} // namespace
} // namespace mosbench::nic::test
