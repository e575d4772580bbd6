// SPDX-License-Identifier: BSD-3-Clause
//
// What happens on the wire and in the clients, in the order of its time; of two at one time, the one that was asked for first.
#ifndef MOSBENCH_NATIVE_LOAD_EVENTS_H
#define MOSBENCH_NATIVE_LOAD_EVENTS_H

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

namespace mosbench::load {

class Events {
  public:
    static constexpr uint64_t kNever = UINT64_MAX;

    void at(uint64_t ns, std::function<void()> what) { queue_.emplace(std::pair(ns, ++number_), std::move(what)); }
    uint64_t next() const { return queue_.empty() ? kNever : queue_.begin()->first.first; }
    // When the last one was, which may still be under way.
    uint64_t now() const { return now_; }
    // The first of those that are due by `now`. False: there is none.
    bool run_one(uint64_t now)
    {
        if (next() > now) {
            return false;
        }
        const auto event = queue_.extract(queue_.begin());
        now_ = event.key().first;
        event.mapped()();
        return true;
    }

  private:
    std::map<std::pair<uint64_t, uint64_t>, std::function<void()>> queue_;
    uint64_t number_ = 0, now_ = 0;
};

} // namespace mosbench::load

#endif
