// SPDX-License-Identifier: BSD-3-Clause
//
// Which dialogue an order asks for.
#ifndef MOSBENCH_NATIVE_LOAD_DIALOGUES_H
#define MOSBENCH_NATIVE_LOAD_DIALOGUES_H

#include <memory>
#include <string>
#include <string_view>

#include "native/load/chat.h"
#include "native/load/dialogue.h"
#include "native/load/order.h"

namespace mosbench::load {

// Makes those of an order, which must outlive it, and has what they share.
class Dialogues {
  public:
    // `delivered`: all members of its room have the request of a connection (chat).
    Dialogues(const Order &order, ChatRooms::Delivered delivered);
    std::unique_ptr<Dialogue> make(uint32_t connection);

  private:
    const Order &order_;
    const std::string pattern_; // streams
    ChatRooms rooms_;           // chat
};

// Whether each request has a connection of its own.
bool closes(const Order &order);
uint32_t fnv1a(std::string_view text);

} // namespace mosbench::load

#endif
