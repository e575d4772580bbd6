// SPDX-License-Identifier: BSD-3-Clause
#include "native/load/stream.h"

#include <algorithm>

#include "workloads/micro/src/micro/messages.h"

namespace mosbench::load {

std::string stream_pattern(const Order &order)
{
    if (order.kind != Kind::stream && order.kind != Kind::udp_stream) {
        return {};
    }
    std::string pattern(pattern_bytes(std::max(order.bytes, order.reply_bytes)), '\0');
    fill_pattern(pattern.data(), pattern.size());
    return pattern;
}

std::string Stream::request(uint32_t number)
{
    head_.resize(MESSAGE_HEAD);
    put_head(head_.data(), connection_, number);
    data_ = reply_place(connection_, number);
    come_ = 0;
    right_ = true;
    return head_ + pattern_.substr(request_place(connection_, number), order_.bytes);
}

Verdict Stream::take(std::span<const uint8_t> bytes)
{
    const std::string_view text(reinterpret_cast<const char *>(bytes.data()), bytes.size());
    const size_t head_before = std::min(come_, head_.size()), data_before = come_ - head_before;
    const size_t of_head = std::min(text.size(), head_.size() - head_before);
    const size_t whole = head_.size() + order_.reply_bytes;
    if (head_.empty() || come_ + text.size() > whole) {
        return Verdict::wrong;
    }
    const std::string_view data = text.substr(of_head);
    right_ = right_ && text.substr(0, of_head) == std::string_view(head_).substr(head_before, of_head) &&
             data == std::string_view(pattern_).substr(data_ + data_before, data.size());
    come_ += text.size();
    if (come_ < whole) {
        return Verdict::more;
    }
    return right_ ? Verdict::right : Verdict::wrong;
}

} // namespace mosbench::load
