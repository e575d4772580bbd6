// SPDX-License-Identifier: BSD-3-Clause
//
// A client of PostgreSQL, protocol version 3: a message is a type (one byte), a length (32 bits, with itself) and the content. A
// request is a batch of queries to the table that the guest's workload has made, the same that its own clients send.
#ifndef MOSBENCH_NATIVE_LOAD_POSTGRESQL_H
#define MOSBENCH_NATIVE_LOAD_POSTGRESQL_H

#include <string>
#include <string_view>
#include <vector>

#include "native/load/dialogue.h"
#include "native/load/order.h"
#include "workloads/postgresql/src/queries.h"

namespace mosbench::load {

class PostgreSql final : public Dialogue {
  public:
    PostgreSql(const Order &order, uint32_t connection);

    std::string hello() override;
    std::string request(uint32_t number) override;
    Verdict take(std::span<const uint8_t> bytes) override;
    uint64_t updated() const override { return updated_; }

  private:
    Verdict message(char type, std::string_view content);
    bool is_right(const query &asked, std::string_view value) const;

    const Order &order_;
    std::vector<uint32_t> versions_;
    queries all_;
    std::string unread_;
    bool started_ = false;       // the server has taken the hello
    std::vector<query> queries_; // of the batch
    uint32_t messages_ = 0;      // of the batch, those without an end
    size_t at_ = 0;              // queries that have ended
    size_t rows_ = 0;            // of this one
    bool wrong_ = false;
    uint64_t updated_ = 0;
};

} // namespace mosbench::load

#endif
