// SPDX-License-Identifier: BSD-3-Clause
#include "native/load/postgresql.h"

#include "native/nic/bytes.h"

namespace mosbench::load {

namespace {

constexpr uint32_t kLongestMessage = 1 << 16;
constexpr uint32_t kProtocol = 3 << 16;
// With its end: not of more rows than one.
constexpr std::string_view kUpdated{"UPDATE 1", sizeof "UPDATE 1"};

uint32_t number_at(std::string_view text)
{
    return nic::load32(reinterpret_cast<const uint8_t *>(text.data()));
}

std::string number(uint32_t value)
{
    std::string bytes(4, '\0');
    nic::store32(reinterpret_cast<uint8_t *>(bytes.data()), value);
    return bytes;
}

} // namespace

PostgreSql::PostgreSql(const Order &order, uint32_t connection)
    : order_(order), all_{uint64_t{order.seed} + connection, connection, order.connections, order.rows, nullptr}
{
    if (order.updates != 0) {
        versions_.resize(row_count(&all_));
        all_.versions = versions_.data();
    }
}

std::string PostgreSql::hello()
{
    unread_.clear();
    started_ = false;
    using namespace std::string_view_literals;
    constexpr std::string_view kParameters = "user\0postgres\0database\0postgres\0\0"sv;
    std::string text = number(static_cast<uint32_t>(8 + kParameters.size()));
    text += number(kProtocol);
    text += kParameters;
    return text;
}

std::string PostgreSql::request(uint32_t)
{
    std::string text(order_.batch * QUERY_ROOM, '\0');
    queries_.resize(order_.batch);
    text.resize(write_batch(&all_, order_.batch, queries_.data(), text.data(), &messages_));
    at_ = rows_ = 0;
    wrong_ = false;
    return text;
}

Verdict PostgreSql::take(std::span<const uint8_t> bytes)
{
    unread_.append(bytes.begin(), bytes.end());
    size_t begin = 0;
    Verdict verdict = Verdict::more;
    while (verdict == Verdict::more && unread_.size() - begin >= QUERY_HEAD) {
        const std::string_view rest = std::string_view(unread_).substr(begin);
        const uint32_t length = number_at(rest.substr(1));
        if (length < 4 || length > kLongestMessage) {
            return Verdict::broken;
        }
        if (rest.size() < 1 + length) {
            break;
        }
        verdict = message(rest[0], rest.substr(QUERY_HEAD, length - 4));
        begin += 1 + length;
    }
    unread_.erase(0, begin);
    return verdict != Verdict::more && !unread_.empty() ? Verdict::broken : verdict; // it spoke without being asked
}

// Only who updates a row knows its version, and only while nothing was lost on the way.
bool PostgreSql::is_right(const query &asked, std::string_view value) const
{
    return is_value(value.data(), value.size(), asked.key, newest_version(&all_, asked.key));
}

// R: authentication, 0 = done. D: a row: number of columns (16 bits), of each length and bytes. C: a query has ended. Z: ready,
// at the end of each message. E: an error, after which the rest of the message is not run.
Verdict PostgreSql::message(char type, std::string_view content)
{
    switch (type) {
    case 'R':
        return content.size() == 4 && number_at(content) == 0 ? Verdict::more : Verdict::broken;
    case 'E':
        wrong_ = true;
        return started_ ? Verdict::more : Verdict::broken;
    case 'D':
        rows_++;
        wrong_ |= at_ >= queries_.size() || content.size() < 6 || !is_right(queries_[at_], content.substr(6));
        return Verdict::more;
    case 'C':
        if (at_ < queries_.size() && queries_[at_].update) {
            const bool updated = content.substr(0, kUpdated.size()) == kUpdated;
            wrong_ |= !updated;
            updated_ += updated;
        } else {
            wrong_ |= at_ >= queries_.size() || rows_ != 1;
        }
        rows_ = 0;
        at_++;
        return Verdict::more;
    case 'Z':
        if (!started_) {
            started_ = true;
            return Verdict::ready;
        }
        if (messages_ == 0) {
            return Verdict::broken; // it spoke without being asked
        }
        if (--messages_ != 0) {
            return Verdict::more;
        }
        return wrong_ || at_ != queries_.size() ? Verdict::wrong : Verdict::right;
    case 'K':
    case 'N':
    case 'S':
    case 'T':
        return Verdict::more;
    default:
        return Verdict::broken;
    }
}

} // namespace mosbench::load
