// SPDX-License-Identifier: GPL-2.0-or-later
//
// Expectations of the engine change nothing but the time that the host takes.
#include <gtest/gtest.h>

#include <cstring>

#include "tests/model/rig.h"
#include "tests/model/steps.h"

namespace mosbench::test {
namespace {

TEST(HostPrefetch, ExpectationsRightOrWrongChangeNothing)
{
    Rig told(tiny()), not_told(tiny());
    Steps steps(told.machine, 31), guesses(told.machine, 32);
    std::vector<uint64_t> clock(told.machine.cores(), 0);
    for (uint32_t i = 0; i < 20'000; i++) {
        const Step step = steps.next(slowest(clock)), guess = guesses.next(guesses.below(told.machine.cores()));
        const Step &expected = guesses.below(2) == 0 ? step : guess;
        told.model.expect(expected.core, expected.line, expected.kind == MODEL_FETCH);
        const uint64_t cycles = told.access_at(clock[step.core], step.core, step.line, step.kind);
        ASSERT_EQ(cycles, not_told.access_at(clock[step.core], step.core, step.line, step.kind)) << "step " << i;
        clock[step.core] += cycles;
    }
    for (uint32_t line : steps.lines()) {
        ASSERT_EQ(std::memcmp(&told.entry(line), &not_told.entry(line), sizeof(Entry)), 0) << "line " << line;
    }
    for (uint32_t core = 0; core < told.machine.cores(); core++) {
        EXPECT_EQ(std::memcmp(&told.core(core), &not_told.core(core), sizeof(CoreRow)), 0) << "core " << core;
        EXPECT_EQ(std::memcmp(&told.filters[core], &not_told.filters[core], sizeof(model_filter)), 0) << "core " << core;
    }
}

// It looks some lines ahead of a core that goes through memory, but not beyond the last one.
TEST(HostPrefetch, StreamsUpToTheLastLineOfMemory)
{
    Rig rig(tiny());
    const uint32_t lines = rig.machine.sockets * rig.node_lines;
    for (uint32_t line = lines - 200; line < lines; line++) {
        rig.read(0, line);
        EXPECT_TRUE(rig.entry(line).in_core(0));
    }
}

} // namespace
} // namespace mosbench::test
