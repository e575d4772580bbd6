// SPDX-License-Identifier: BSD-3-Clause
//
// A client of PostgreSQL, protocol version 3: a message is a type (one byte), a length (32 bits, with itself) and the content. A
// request is a batch of SELECTs in one simple query message; each asks for the value of one key of the table that the guest's
// workload has made.
#ifndef MOSBENCH_NATIVE_LOAD_POSTGRESQL_H
#define MOSBENCH_NATIVE_LOAD_POSTGRESQL_H

#include <string>
#include <string_view>
#include <vector>

#include "native/load/dialogue.h"
#include "native/load/order.h"

namespace mosbench::load {

class PostgreSql final : public Dialogue {
  public:
    PostgreSql(const Order &order, uint32_t connection) : order_(order), connection_(connection) {}

    std::string hello() override;
    std::string request(uint32_t number) override;
    Verdict take(std::span<const uint8_t> bytes) override;

    // What a row that nobody has updated has as its value.
    static std::string value_of(uint32_t key);

  private:
    Verdict message(char type, std::string_view content);

    const Order &order_;
    const uint32_t connection_;
    std::string unread_;
    bool started_ = false;       // the server has taken the hello
    std::vector<uint32_t> keys_; // of the batch
    size_t at_ = 0;              // queries that have ended
    size_t rows_ = 0;            // of this one
    bool wrong_ = false;
};

} // namespace mosbench::load

#endif
