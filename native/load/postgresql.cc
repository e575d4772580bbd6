// SPDX-License-Identifier: BSD-3-Clause
#include "native/load/postgresql.h"

#include <cstdio>

#include "native/nic/bytes.h"

namespace mosbench::load {

namespace {

constexpr size_t kHead = 5; // type and length
constexpr uint32_t kLongestMessage = 1 << 16;
constexpr uint32_t kProtocol = 3 << 16;

// The finaliser of SplitMix64, as in the workload's own client.
uint64_t mix(uint64_t value)
{
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
    value = (value ^ value >> 27) * 0x94d049bb133111ebu;
    return value ^ value >> 31;
}

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

std::string PostgreSql::hello()
{
    using namespace std::string_view_literals;
    constexpr std::string_view kParameters = "user\0postgres\0database\0postgres\0\0"sv;
    std::string text = number(static_cast<uint32_t>(8 + kParameters.size()));
    text += number(kProtocol);
    text += kParameters;
    return text;
}

std::string PostgreSql::value_of(uint32_t key)
{
    char text[32];
    std::snprintf(text, sizeof text, "%08x%08x%08x", key, 0, static_cast<uint32_t>(mix(uint64_t{key} << 32)));
    return text;
}

std::string PostgreSql::request(uint32_t request_number)
{
    uint64_t random = mix(uint64_t{order_.seed} << 32 ^ uint64_t{connection_} << 24 ^ request_number);
    std::string text;
    keys_.clear();
    at_ = rows_ = 0;
    wrong_ = false;
    for (uint32_t i = 0; i < order_.batch; i++) {
        random += 0x9e3779b97f4a7c15u;
        const auto key = static_cast<uint32_t>(mix(random) % order_.rows);
        keys_.push_back(key);
        text += "SELECT value FROM pairs WHERE key=" + std::to_string(key) + ";";
    }
    text += '\0';
    return 'Q' + number(static_cast<uint32_t>(4 + text.size())) + text;
}

Verdict PostgreSql::take(std::span<const uint8_t> bytes)
{
    unread_.append(bytes.begin(), bytes.end());
    size_t begin = 0;
    Verdict verdict = Verdict::more;
    while (verdict == Verdict::more && unread_.size() - begin >= kHead) {
        const std::string_view rest = std::string_view(unread_).substr(begin);
        const uint32_t length = number_at(rest.substr(1));
        if (length < 4 || length > kLongestMessage) {
            return Verdict::broken;
        }
        if (rest.size() < 1 + length) {
            break;
        }
        verdict = message(rest[0], rest.substr(kHead, length - 4));
        begin += 1 + length;
    }
    unread_.erase(0, begin);
    return verdict != Verdict::more && !unread_.empty() ? Verdict::broken : verdict; // it spoke without being asked
}

// R: authentication, 0 = done. D: a row: number of columns (16 bits), of each length and bytes. C: a query has ended. Z: ready.
// E: an error, after which the rest of the batch is not run.
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
        wrong_ |= at_ >= keys_.size() || content.size() < 6 || content.substr(6) != value_of(keys_[at_]);
        return Verdict::more;
    case 'C':
        wrong_ |= rows_ != 1;
        rows_ = 0;
        at_++;
        return Verdict::more;
    case 'Z':
        if (!started_) {
            started_ = true;
            return Verdict::ready;
        }
        return wrong_ || at_ != keys_.size() ? Verdict::wrong : Verdict::right;
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
