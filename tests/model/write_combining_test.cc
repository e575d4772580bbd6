// SPDX-License-Identifier: GPL-2.0-or-later
//
// The write-combining buffers of a core.
#include <gtest/gtest.h>

#include "fast-engine/model/write_combining.h"

namespace mosbench::test {
namespace {

constexpr uint64_t kWay = 61;

TEST(WriteCombining, TheLineBegunLastIsOpenForItsCoreOnly)
{
    WriteCombining buffers;
    EXPECT_FALSE(buffers.open(0, 5));
    buffers.begin(0, 5, 1000, 0, kWay);
    EXPECT_TRUE(buffers.open(0, 5));
    EXPECT_FALSE(buffers.open(1, 5));
    buffers.begin(0, 6, 1000, 0, kWay);
    EXPECT_FALSE(buffers.open(0, 5));
    EXPECT_TRUE(buffers.open(0, 6));
}

TEST(WriteCombining, TheFifthWaitsForTheFirst)
{
    WriteCombining buffers;
    for (uint32_t line = 0; line < WriteCombining::kBuffers; line++) {
        EXPECT_EQ(buffers.begin(0, line, 1000 + line, 0, kWay), 0u) << line;
    }
    EXPECT_EQ(buffers.begin(0, 10, 1010, 0, kWay), kWay - 10);
    EXPECT_EQ(buffers.begin(1, 11, 1010, 0, kWay), 0u); // another core's are its own
    // The second's turn; then the fifth's, which began when its buffer was free.
    EXPECT_EQ(buffers.begin(0, 12, 1001 + kWay, 0, kWay), 0u);
    buffers.begin(0, 13, 1100, 0, kWay);
    buffers.begin(0, 14, 1100, 0, kWay);
    EXPECT_EQ(buffers.begin(0, 15, 1100, 0, kWay), 1000 + 2 * kWay - 1100);
}

TEST(WriteCombining, QueuesGoOnWhileTheCoreWaits)
{
    WriteCombining buffers;
    buffers.begin(0, 1, 0, 500, kWay); // free at 561
    for (uint32_t line = 2; line <= WriteCombining::kBuffers; line++) {
        buffers.begin(0, line, 0, 0, kWay);
    }
    EXPECT_EQ(buffers.begin(0, 10, 100, 300, kWay), 461u); // longer than its own queue: free at 561 + 61
    for (uint32_t line = 2; line <= WriteCombining::kBuffers; line++) {
        EXPECT_EQ(buffers.begin(0, line, 600, 0, kWay), 0u);
    }
    EXPECT_EQ(buffers.begin(0, 11, 600, 0, kWay), 561 + kWay - 600);
}

TEST(WriteCombining, ClearForgetsEverything)
{
    WriteCombining buffers;
    for (uint32_t line = 0; line < WriteCombining::kBuffers; line++) {
        buffers.begin(0, line, 0, 0, kWay);
    }
    buffers.clear();
    EXPECT_FALSE(buffers.open(0, WriteCombining::kBuffers - 1));
    EXPECT_EQ(buffers.begin(0, 9, 0, 0, kWay), 0u);
}

} // namespace
} // namespace mosbench::test
