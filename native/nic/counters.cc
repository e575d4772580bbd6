// SPDX-License-Identifier: BSD-3-Clause
#include "native/nic/counters.h"

namespace mosbench::nic {

namespace {

constexpr uint32_t kCheckSequence = 4;

// 36 bits in two registers.
void add_octets(State &state, uint32_t low, uint64_t bytes)
{
    const uint64_t sum = (uint64_t{state.at(low + 4)} << 32 | state.at(low)) + bytes;
    state.at(low) = static_cast<uint32_t>(sum);
    state.at(low + 4) = static_cast<uint32_t>(sum >> 32) & 15;
}

// One of the six counters from `first` on: 64, 65 to 127, 128 to 255, to 511, to 1023 and longer, check sequence included.
void count_size(State &state, uint32_t first, size_t bytes)
{
    uint32_t place = 0;
    for (size_t most = 64; place < 5 && bytes > most; most = most == 64 ? 127 : most * 2 + 1) {
        place++;
    }
    state.at(first + place * 4)++;
}

bool broadcast(std::span<const uint8_t> frame)
{
    for (size_t i = 0; i < 6; i++) {
        if (frame[i] != 0xFF) {
            return false;
        }
    }
    return true;
}

void count_kind(State &state, std::span<const uint8_t> frame, uint32_t broadcasts, uint32_t multicasts)
{
    if (broadcast(frame)) {
        state.at(broadcasts)++;
    } else if (frame[0] & 1) {
        state.at(multicasts)++;
    }
}

uint32_t statistics_of(const State &state, uint32_t map, uint32_t queue)
{
    return state.at(map + queue / 4 * 4) >> queue % 4 * 8 & 15;
}

bool in(uint32_t offset, uint32_t first, uint32_t words)
{
    return offset - first < words * 4;
}

bool in_queue_counters(uint32_t offset, uint32_t first)
{
    return in(offset, first, kStatisticsQueues * reg::QUEUE_STRIDE / 4) && (offset - first) % reg::QUEUE_STRIDE == 0;
}

} // namespace

bool cleared_by_read(uint32_t offset)
{
    return in(offset, reg::MPC, 8) || in(offset, 0x4000, 64) || in_queue_counters(offset, reg::QPRC) ||
           in_queue_counters(offset, reg::QBRCL) || in_queue_counters(offset, reg::QBRCL + 4) ||
           in_queue_counters(offset, reg::QPRDC) || in_queue_counters(offset, reg::QPTC) ||
           in_queue_counters(offset, reg::QBTC) || in(offset, reg::QBTCL, 2 * kStatisticsQueues) || in(offset, reg::FDIRUSTAT, 4);
}

void count_received(State &state, std::span<const uint8_t> frame)
{
    const uint64_t bytes = frame.size() + kCheckSequence;
    state.at(reg::GPRC)++;
    state.at(reg::TPR)++;
    count_size(state, reg::PRC64, bytes);
    count_kind(state, frame, reg::BPRC, reg::MPRC);
    add_octets(state, reg::GORCL, bytes);
    add_octets(state, reg::TORL, bytes);
    state.totals.received_frames++;
    state.totals.received_bytes += frame.size();
}

void count_sent(State &state, std::span<const uint8_t> frame)
{
    const uint64_t bytes = frame.size() + kCheckSequence;
    state.at(reg::GPTC)++;
    state.at(reg::TPT)++;
    count_size(state, reg::PTC64, bytes);
    count_kind(state, frame, reg::BPTC, reg::MPTC);
    add_octets(state, reg::GOTCL, bytes);
    state.totals.sent_frames++;
    state.totals.sent_bytes += frame.size();
}

void count_queue_received(State &state, uint32_t queue, uint32_t bytes)
{
    const uint32_t n = statistics_of(state, reg::RQSMR, queue);
    state.queue(reg::QPRC, n)++;
    state.totals.received_of_queue[queue]++;
    add_octets(state, reg::QBRCL + n * reg::QUEUE_STRIDE, bytes + kCheckSequence);
}

void count_queue_dropped(State &state, uint32_t queue)
{
    state.queue(reg::QPRDC, statistics_of(state, reg::RQSMR, queue))++;
}

void count_queue_sent(State &state, uint32_t queue, uint32_t bytes)
{
    const uint32_t n = statistics_of(state, reg::TQSM, queue);
    state.queue(reg::QPTC, n)++;
    state.totals.sent_of_queue[queue]++;
    add_octets(state, reg::QBTCL + n * 8, bytes + kCheckSequence);
}

} // namespace mosbench::nic
