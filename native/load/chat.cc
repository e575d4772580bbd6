// SPDX-License-Identifier: BSD-3-Clause
#include "native/load/chat.h"

#include <utility>

#include "native/load/clients.h"
#include "workloads/micro/src/micro/messages.h"

namespace mosbench::load {

namespace {

constexpr uint32_t kJoin = 0; // what the first message has for a number

} // namespace

ChatRooms::ChatRooms(const Order &order, Delivered delivered) : order_(order), delivered_(std::move(delivered))
{
    if (order.kind != Kind::chat) {
        return;
    }
    said_.resize(order.connections);
    for (uint32_t connection = 0; connection < order.connections; connection++) {
        const uint32_t where = room(connection);
        if (members_.size() <= where) {
            members_.resize(where + 1);
        }
        members_[where]++;
    }
}

uint32_t ChatRooms::room(uint32_t connection) const
{
    return room_of(connection, order_.ports, order_.members, order_.apart != 0);
}

void ChatRooms::say(uint32_t speaker, uint32_t number)
{
    said_[speaker] = {number, members_[room(speaker)]};
}

void ChatRooms::hear(uint32_t speaker, uint32_t number)
{
    Said &said = said_[speaker];
    if (number == said.number && said.missing != 0 && --said.missing == 0) {
        delivered_(speaker, number);
    }
}

std::string Chat::hello()
{
    unread_.clear();
    return numbered_bytes(rooms_.order(), connection_, kJoin);
}

std::string Chat::request(uint32_t number)
{
    rooms_.say(connection_, number);
    return numbered_bytes(rooms_.order(), connection_, number);
}

Verdict Chat::take(std::span<const uint8_t> bytes)
{
    const size_t length = rooms_.order().bytes;
    Verdict verdict = Verdict::more;
    unread_.append(bytes.begin(), bytes.end());
    size_t at = 0;
    for (; unread_.size() - at >= length && verdict != Verdict::wrong; at += length) {
        const Verdict one = message(std::string_view(unread_).substr(at, length));
        verdict = one == Verdict::more ? verdict : one;
    }
    unread_.erase(0, at);
    return verdict;
}

Verdict Chat::message(std::string_view text)
{
    const uint32_t speaker = get_number(text.data(), 0), number = get_number(text.data(), 1);
    if (speaker >= rooms_.order().connections || !rooms_.together(speaker, connection_) ||
        text != numbered_bytes(rooms_.order(), speaker, number)) {
        return Verdict::wrong;
    }
    if (number == kJoin) {
        return speaker == connection_ ? Verdict::ready : Verdict::wrong;
    }
    uint32_t &last = heard_[speaker];
    if (number <= last || number > rooms_.newest(speaker)) {
        return Verdict::wrong;
    }
    last = number;
    rooms_.hear(speaker, number);
    return Verdict::more;
}

} // namespace mosbench::load
