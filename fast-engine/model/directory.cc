// SPDX-License-Identifier: GPL-2.0-or-later
#include "fast-engine/model/directory.h"

#include <bit>

namespace mosbench {

const char *Entry::broken_rule() const
{
    if (cached() != (state() != State::invalid)) {
        return "a line is cached if and only if its state is not I";
    }
    if ((owner() != kNobody) != (dirty() || writable())) {
        return "in M, O and E a line has an owner, in S and I none";
    }
    if (owner() != kNobody && !owner_holds_it()) {
        return "the owner of a line holds a copy";
    }
    if (writable() && std::popcount(cores) + std::popcount(l3()) != 1) {
        return "beside M or E there is no other copy";
    }
    return nullptr;
}

} // namespace mosbench
