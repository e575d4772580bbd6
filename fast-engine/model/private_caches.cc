// SPDX-License-Identifier: GPL-2.0-or-later
#include "fast-engine/model/private_caches.h"

#include <algorithm>
#include <iterator>

#include "fast-engine/model/invariant.h"

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

uint32_t PrivateCaches::fill(uint32_t line, bool fetch, bool held)
{
    if (held && !l2_.remove(line)) {
        invariant((fetch ? l1d_ : l1i_).contains(line), "what the directory says a core holds is in one of its caches", line);
    }
    const uint32_t fallen = (fetch ? l1i_ : l1d_).insert(line);
    if (fallen == kNoLine || (fetch ? l1d_ : l1i_).contains(fallen)) {
        return kNoLine;
    }
    return l2_.insert(fallen);
}

void PrivateCaches::remove(uint32_t line)
{
    bool found = false;
    if (l1d_.remove(line)) {
        hide(line);
        found = true;
    }
    if (l1i_.remove(line)) {
        show_fetch(l1i_.set_of(line));
        found = true;
    }
    found = found || l2_.remove(line);
    invariant(found, "what the directory says a core holds is in one of its caches", line);
}

} // namespace mosbench
