// SPDX-License-Identifier: BSD-3-Clause
#include "native/load/dialogues.h"

#include <algorithm>

#include "native/load/clients.h"
#include "native/load/postgresql.h"
#include "native/load/stream.h"

namespace mosbench::load {

namespace {

constexpr size_t kLongestReply = 1 << 16;

// The server sends back what it gets.
class Echo : public Dialogue {
  public:
    Echo(const Order &order, uint32_t connection) : order_(order), connection_(connection) {}

    std::string request(uint32_t number) override
    {
        reply_.clear();
        return wanted_ = numbered_bytes(order_, connection_, number);
    }
    Verdict take(std::span<const uint8_t> bytes) override
    {
        reply_.append(bytes.begin(), bytes.end());
        return reply_.size() < wanted_.size() ? Verdict::more : judge();
    }

  protected:
    Verdict judge() const { return reply_ == wanted_ ? Verdict::right : Verdict::wrong; }
    std::string wanted_, reply_;

  private:
    const Order &order_;
    const uint32_t connection_;
};

// And then closes the connection.
class EchoOnce final : public Echo {
  public:
    using Echo::Echo;
    Verdict take(std::span<const uint8_t> bytes) override
    {
        reply_.append(bytes.begin(), bytes.end());
        return reply_.size() > kLongestReply ? Verdict::broken : Verdict::more;
    }
    Verdict ended() override { return reply_.empty() ? Verdict::broken : judge(); }
};

// One file; the server closes the connection after it.
class Http final : public Dialogue {
  public:
    explicit Http(const Order &order) : order_(order) {}
    std::string request(uint32_t) override
    {
        reply_.clear();
        return "GET /file.txt HTTP/1.1\r\nHost: mosbench\r\n\r\n";
    }
    Verdict take(std::span<const uint8_t> bytes) override
    {
        reply_.append(bytes.begin(), bytes.end());
        return reply_.size() > kLongestReply ? Verdict::broken : Verdict::more;
    }
    Verdict ended() override
    {
        constexpr std::string_view kStatus = "HTTP/1.1 200 OK\r\n", kEndOfHeader = "\r\n\r\n";
        const std::string_view reply = reply_;
        if (reply.empty()) {
            return Verdict::broken;
        }
        const size_t header = reply.find(kEndOfHeader);
        if (!reply.starts_with(kStatus) || header == std::string_view::npos) {
            return Verdict::wrong;
        }
        const std::string_view body = reply.substr(header + kEndOfHeader.size());
        return body.size() == order_.body_bytes && fnv1a(body) == order_.body_hash ? Verdict::right : Verdict::wrong;
    }

  private:
    const Order &order_;
    std::string reply_;
};

} // namespace

uint32_t fnv1a(std::string_view text)
{
    uint32_t hash = 2166136261u;
    for (const char letter : text) {
        hash = (hash ^ static_cast<uint8_t>(letter)) * 16777619u;
    }
    return hash;
}

bool closes(const Order &order)
{
    return order.kind == Kind::http || (order.kind == Kind::tcp && order.close != 0);
}

Dialogues::Dialogues(const Order &order, ChatRooms::Delivered delivered)
    : order_(order), pattern_(stream_pattern(order)), rooms_(order, std::move(delivered))
{
}

std::unique_ptr<Dialogue> Dialogues::make(uint32_t connection)
{
    switch (order_.kind) {
    case Kind::stream:
        return std::make_unique<Stream>(order_, connection, pattern_);
    case Kind::chat:
        return std::make_unique<Chat>(rooms_, connection);
    case Kind::http:
        return std::make_unique<Http>(order_);
    case Kind::postgresql:
        return std::make_unique<PostgreSql>(order_, connection);
    default:
        return closes(order_) ? std::make_unique<EchoOnce>(order_, connection) : std::make_unique<Echo>(order_, connection);
    }
}

} // namespace mosbench::load
