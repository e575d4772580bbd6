// SPDX-License-Identifier: BSD-3-Clause
//
// Clients in rooms. What one says the server passes on to all members of its room, to the speaker too. A request is one message,
// and is done when all members have it.
#ifndef MOSBENCH_NATIVE_LOAD_CHAT_H
#define MOSBENCH_NATIVE_LOAD_CHAT_H

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "native/load/dialogue.h"
#include "native/load/order.h"

namespace mosbench::load {

class ChatRooms {
  public:
    // All members have message `number` of a connection.
    using Delivered = std::function<void(uint32_t connection, uint32_t number)>;

    // `order` must outlive it. One that is no chat has no rooms.
    ChatRooms(const Order &order, Delivered delivered);

    const Order &order() const { return order_; }
    // A connection says its next message.
    void say(uint32_t speaker, uint32_t number);
    // A member of the speaker's room has it. What the speaker no longer waits for changes nothing.
    void hear(uint32_t speaker, uint32_t number);
    bool together(uint32_t a, uint32_t b) const { return room(a) == room(b); }
    // Number of the last message that a connection has said; 0: none.
    uint32_t newest(uint32_t speaker) const { return said_[speaker].number; }

  private:
    struct Said {
        uint32_t number = 0;
        uint32_t missing = 0; // members that do not have it yet
    };
    uint32_t room(uint32_t connection) const;

    const Order &order_;
    const Delivered delivered_;
    std::vector<uint32_t> members_; // of each room
    std::vector<Said> said_;        // by each connection
};

class Chat final : public Dialogue {
  public:
    // `rooms` must outlive it.
    Chat(ChatRooms &rooms, uint32_t connection) : rooms_(rooms), connection_(connection) {}

    // Comes into its room. The server says the same when all members have come.
    std::string hello() override;
    std::string request(uint32_t number) override;
    Verdict take(std::span<const uint8_t> bytes) override;

  private:
    Verdict message(std::string_view text);

    ChatRooms &rooms_;
    const uint32_t connection_;
    std::string unread_;
    std::unordered_map<uint32_t, uint32_t> heard_; // number of the last message, of each speaker
};

} // namespace mosbench::load

#endif
