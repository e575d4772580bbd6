// SPDX-License-Identifier: BSD-3-Clause
//
// Data in bulk: a request brings `bytes` of data to the guest, and its reply `reply_bytes` back.
#ifndef MOSBENCH_NATIVE_LOAD_STREAM_H
#define MOSBENCH_NATIVE_LOAD_STREAM_H

#include <string>

#include "native/load/dialogue.h"
#include "native/load/order.h"

namespace mosbench::load {

// What the data of all messages is taken from; empty for an order that has no stream.
std::string stream_pattern(const Order &order);

// Over a connection of TCP that stays.
class Stream final : public Dialogue {
  public:
    Stream(const Order &order, uint32_t connection, const std::string &pattern)
        : order_(order), connection_(connection), pattern_(pattern)
    {
    }

    std::string request(uint32_t number) override;
    Verdict take(std::span<const uint8_t> bytes) override;

  private:
    const Order &order_;
    const uint32_t connection_;
    const std::string &pattern_;
    std::string head_;  // of the reply
    size_t data_ = 0;   // of the reply: where it begins in the pattern
    size_t come_ = 0;   // bytes of the reply
    bool right_ = true; // all of them
};

} // namespace mosbench::load

#endif
