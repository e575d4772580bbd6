// SPDX-License-Identifier: GPL-2.0-or-later
#include "fast-engine/model/host_prefetch.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "native/prefetch.h"

namespace mosbench {

namespace {

// How many expectations come between two steps of one, if there are so many. Powers of two: one that changed all the time would
// leave steps out.
uint32_t spacing_of(uint32_t expectations)
{
    return std::bit_floor(std::clamp(expectations, 1u, 8u));
}

} // namespace

void HostPrefetch::miss(uint32_t core, uint32_t line, bool fetch)
{
    const bool stream = line == last_miss_[core] + 1 && line + kSteps < caches_.lines();
    last_miss_[core] = line;
    if (expected_line_[core] == line) {
        // Its steps were to be taken in the time that others' expectations gave it.
        step_spacing_ = spacing_of((expectations_ - expected_at_[core]) / kSteps);
        return;
    }
    if (stream) { // a core that goes through memory will want its next lines
        step_spacing_ = spacing_of(expectations_ - expected_at_[core]);
        begin_steps(core, line + kSteps, fetch);
        return;
    }
    Expected now = {.core = core, .line = line, .falling = kNoLine, .fetch = fetch, .steps = 0};
    take_step(now);
    take_step(now);
}

void HostPrefetch::expect(uint32_t core, uint32_t line, bool fetch)
{
    if (std::exchange(recent_[line % kMostExpected], line) != line) { // else the host's cache has it all
        begin_steps(core, line, fetch);
    }
    expected_line_[core] = line;
}

void HostPrefetch::begin_steps(uint32_t core, uint32_t line, bool fetch)
{
    expected_at_[core] = expectations_;
    Expected &first = expected_[expectations_ % kMostExpected];
    first = {.core = core, .line = line, .falling = kNoLine, .fetch = fetch, .steps = 0};
    take_step(first);
    for (uint32_t step = 1; step < kSteps; step++) {
        Expected &earlier = expected_[(expectations_ - step * step_spacing_) % kMostExpected];
        if (earlier.steps <= step) {
            take_step(earlier);
        }
    }
    expectations_++;
}

void HostPrefetch::take_step(Expected &expected)
{
    const uint32_t socket = caches_.socket_of(expected.core);
    const PrivateCaches &core = caches_.core(expected.core);
    const VictimArray &l3 = caches_.l3(socket);
    uint32_t &falling = expected.falling;
    switch (expected.steps++) {
    case 0:
        prefetch_far(&caches_.entry(expected.line));
        core.prefetch_l1(expected.line);
        counters_.prefetch_line(expected.line);
        return;
    case 1:
        if (const Entry &entry = caches_.entry(expected.line); entry.in_core(expected.core) || entry.in_l3(socket)) {
            expected.steps = kSteps;
            return;
        }
        homes_.prefetch_probe_filter(expected.line);
        falling = core.next_victim_of_l1(expected.line, expected.fetch);
        if (falling != kNoLine) {
            core.prefetch_l2_victim(falling);
        }
        counters_.prefetch_row(expected.line);
        return;
    case 2:
        falling = falling == kNoLine ? kNoLine : core.next_victim_of_l2(falling);
        if (falling != kNoLine) {
            prefetch_far(&caches_.entry(falling));
            l3.prefetch_oldest(falling);
        }
        counters_.prefetch_site(expected.line);
        return;
    case 3:
        falling = falling == kNoLine ? kNoLine : l3.next_victim(falling);
        if (falling != kNoLine) {
            prefetch_far(&caches_.entry(falling));
            homes_.prefetch_probe_filter(falling);
        }
        return;
    default:
        if (falling != kNoLine && caches_.entry(falling).dirty()) {
            counters_.prefetch_line(falling);
        }
        return;
    }
}

} // namespace mosbench
