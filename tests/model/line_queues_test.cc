// SPDX-License-Identifier: GPL-2.0-or-later
//
// Places in the queue of a line.
#include <gtest/gtest.h>

#include "fast-engine/model/line_queues.h"

namespace mosbench::test {
namespace {

struct LineQueuesTest : testing::Test {
    LineQueues::Place &join(uint32_t core, uint64_t start, uint64_t busy)
    {
        LineQueues::Place &place = queues.join(*queues.find(5), core, {.line = 5, .start = start, .reach = 0, .busy = busy});
        place.turn = start;
        return place;
    }

    LineQueues queues;
};

TEST_F(LineQueuesTest, EachComesAfterTheBusyCyclesOfThoseBefore)
{
    Queue *queue = &queues.add({.line = 5, .end = 100, .owner = 0, .shared = false});
    EXPECT_FALSE(queues.somebody_waits(*queue, 0));
    join(0, 100, 120);
    const LineQueues::Place &second = join(1, 220, 74);
    const LineQueues::Place &third = join(2, 294, 120);
    EXPECT_TRUE(queues.somebody_waits(*queue, 0));
    EXPECT_EQ(queues.ahead(third, 0), &second);
    EXPECT_EQ(queues.start(queue, third, 100, 0), 294u);
    EXPECT_EQ(queues.start(queue, third, 150, 0), 344u); // the home is free later
    queues.leave(queue, queues.place(0));
    EXPECT_EQ(queues.ahead(second, 0), nullptr);
    EXPECT_EQ(queues.start(queue, third, 220, 0), 294u);
}

TEST_F(LineQueuesTest, WhoDoesNotComeLosesHisPlace)
{
    Queue *queue = &queues.add({.line = 5, .end = 100, .owner = 0, .shared = false});
    join(0, 100, 120);
    const LineQueues::Place &second = join(1, 5000, 120);
    const uint64_t late = 100 + LineQueues::kPatience;
    EXPECT_NE(queues.ahead(second, late), nullptr);
    EXPECT_EQ(queues.ahead(second, late + 1), nullptr);
    EXPECT_TRUE(queues.somebody_waits(*queue, late + 1));
    EXPECT_FALSE(queues.somebody_waits(*queue, 5001 + LineQueues::kPatience));
}

TEST_F(LineQueuesTest, FinishedQueuesAreForgottenUnlessSomebodyWaits)
{
    queues.add({.line = 5, .end = 100, .owner = 0, .shared = false});
    queues.add({.line = 6, .end = 100, .owner = 0, .shared = false});
    join(0, 300, 120);
    queues.drop_finished(99);
    EXPECT_EQ(queues.size(), 2u);
    queues.drop_finished(100);
    EXPECT_EQ(queues.size(), 1u);
    EXPECT_NE(queues.find(5), nullptr);
    EXPECT_EQ(queues.find(6), nullptr);
    queues.leave(queues.find(5), queues.place(0));
    queues.drop_finished(100);
    EXPECT_EQ(queues.size(), 0u);
}

} // namespace
} // namespace mosbench::test
