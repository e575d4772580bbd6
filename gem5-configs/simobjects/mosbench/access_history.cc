// SPDX-License-Identifier: BSD-3-Clause
#include "mosbench/access_history.hh"

#include <algorithm>
#include <cstddef>
#include <map>

namespace gem5 {

namespace {

constexpr Addr kLineBytes = 64;

} // namespace

void AccessHistory::access(unsigned core, Addr line, Kind kind)
{
    if (counts_only_) {
        return;
    }
    Core &own = cores_[core];
    Core::Recent &recent = own.recent[line / kLineBytes % own.recent.size()];
    if (recent.line != line) {
        recent = {line, &own.lines[line]};
    }
    Last &last = *recent.last;
    now_++;
    switch (kind) {
    case Kind::read:
        last.read = now_;
        break;
    case Kind::fetch:
        last.fetch = now_;
        break;
    case Kind::write:
        last.write = now_;
        break;
    }
}

void AccessHistory::byDevice(Addr line)
{
    if (!counts_only_) {
        by_device_[line] = ++now_;
    }
}

std::vector<AccessHistory::Access> AccessHistory::shown(const std::vector<unsigned> &sockets, uint64_t lines) const
{
    std::unordered_map<Addr, uint64_t> written = by_device_; // when last, by anyone
    for (const auto &core : cores_) {
        for (const auto &[line, last] : core.lines) {
            if (last.write != 0) {
                uint64_t &when = written[line];
                when = std::max(when, last.write);
            }
        }
    }
    std::map<unsigned, std::vector<Access>> by_socket;
    for (unsigned core = 0; core < cores_.size(); core++) {
        std::vector<Access> &own = by_socket[sockets.at(core)];
        for (const auto &[line, last] : cores_[core].lines) {
            const auto at = written.find(line);
            const uint64_t since = at == written.end() ? 0 : at->second;
            if (last.write != 0 && last.write == since) {
                own.push_back({last.write, line, core, Kind::write});
            }
            if (last.read > since) {
                own.push_back({last.read, line, core, Kind::read});
            }
            if (last.fetch > since) {
                own.push_back({last.fetch, line, core, Kind::fetch});
            }
        }
    }
    std::vector<Access> all;
    const auto older = [](const Access &a, const Access &b) { return a.when < b.when; };
    for (auto &[socket, own] : by_socket) {
        std::sort(own.begin(), own.end(), older);
        all.insert(all.end(), own.end() - static_cast<ptrdiff_t>(std::min<uint64_t>(own.size(), lines)), own.end());
    }
    std::sort(all.begin(), all.end(), older);
    return all;
}

} // namespace gem5
