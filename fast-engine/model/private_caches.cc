// SPDX-License-Identifier: GPL-2.0-or-later
#include "fast-engine/model/private_caches.h"

#include <algorithm>
#include <iterator>

namespace mosbench {

static_assert(kNoLine == MODEL_NO_LINE);

void PrivateCaches::clear()
{
    l1d_.clear();
    l1i_.clear();
    l2_.clear();
    if (filter_) {
        for (auto &pass : filter_->pass) {
            pass = {MODEL_NO_PLACE, MODEL_NO_PLACE};
        }
        std::fill(std::begin(filter_->fetch), std::end(filter_->fetch), MODEL_NO_LINE);
        filter_->held_read = filter_->held_write = MODEL_NO_LINE;
    }
}

uint32_t PrivateCaches::fill(uint32_t line, bool fetch, bool from_l2)
{
    if (from_l2) {
        l2_.remove(line);
    }
    const uint32_t fallen = (fetch ? l1i_ : l1d_).insert(line);
    if (fallen == kNoLine || (fetch ? l1d_ : l1i_).contains(fallen)) {
        return kNoLine;
    }
    return l2_.insert(fallen);
}

void PrivateCaches::remove(uint32_t line)
{
    bool in_l1 = false;
    if (l1d_.remove(line)) {
        hide(line);
        in_l1 = true;
    }
    if (l1i_.remove(line)) {
        show_fetch(l1i_.set_of(line));
        in_l1 = true;
    }
    if (!in_l1) {
        l2_.remove(line);
    }
}

} // namespace mosbench
