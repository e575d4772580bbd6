// SPDX-License-Identifier: BSD-3-Clause
//
// Which dialogue an order asks for.
#ifndef MOSBENCH_NATIVE_LOAD_DIALOGUES_H
#define MOSBENCH_NATIVE_LOAD_DIALOGUES_H

#include <memory>
#include <string_view>

#include "native/load/dialogue.h"
#include "native/load/order.h"

namespace mosbench::load {

// `order` must outlive it.
std::unique_ptr<Dialogue> make_dialogue(const Order &order, uint32_t connection);
// Whether each request has a connection of its own.
bool closes(const Order &order);
uint32_t fnv1a(std::string_view text);

} // namespace mosbench::load

#endif
