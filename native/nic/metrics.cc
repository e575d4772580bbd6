// SPDX-License-Identifier: BSD-3-Clause
#include "native/nic/metrics.h"

#include <utility>

namespace mosbench::nic {

namespace {

std::string list(const std::array<uint64_t, kQueues> &values)
{
    std::string text;
    for (const uint64_t value : values) {
        text += (text.empty() ? "" : ", ") + std::to_string(value);
    }
    return "[" + text + "]";
}

} // namespace

std::string metrics(const Totals &t)
{
    const std::pair<const char *, uint64_t> figures[] = {
        {"received_frames", t.received_frames},
        {"received_bytes", t.received_bytes},
        {"sent_frames", t.sent_frames},
        {"sent_bytes", t.sent_bytes},
        {"messages", t.messages},
        {"dropped_disabled", t.dropped_disabled},
        {"dropped_address", t.dropped_address},
        {"dropped_length", t.dropped_length},
        {"dropped_fifo", t.dropped_fifo},
        {"dropped_no_descriptor", t.dropped_no_descriptor},
        {"dropped_filter", t.dropped_filter},
        {"dma_reads", t.dma_reads},
        {"dma_writes", t.dma_writes},
        {"dma_errors", t.dma_errors},
        {"bad_packets", t.bad_packets},
        {"segmented_packets", t.segmented_packets},
        {"director_matches", t.director_matches},
        {"most_queues", t.most_queues},
    };
    std::string text;
    for (const auto &[name, value] : figures) {
        text += "\n  \"" + std::string(name) + "\": " + std::to_string(value) + ",";
    }
    return text + "\n  \"received_of_queue\": " + list(t.received_of_queue) + ",\n  \"sent_of_queue\": " + list(t.sent_of_queue);
}

} // namespace mosbench::nic
