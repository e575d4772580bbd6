// SPDX-License-Identifier: BSD-3-Clause
#include "native/records/chains.h"

#include <algorithm>
#include <set>

namespace mosbench {

uint32_t Chains::caller(const uint64_t *addresses, size_t count)
{
    uint32_t number = 0;
    for (size_t i = count; i-- > 0;) {
        const auto [place, is_new] = numbers_.try_emplace({number, addresses[i]}, static_cast<uint32_t>(callers_.size() + 1));
        if (is_new) {
            callers_.push_back({number, addresses[i]});
        }
        number = place->second;
    }
    return number;
}

void Chains::transfer(uint32_t line, uint64_t pc, uint32_t caller, uint64_t cycles)
{
    Seen &seen = sites_[{line, pc, caller}];
    seen.walks++;
    seen.cycles += cycles;
}

Chains::Tables Chains::tables(size_t lines) const
{
    std::map<uint32_t, uint64_t> cycles;
    for (const auto &[key, seen] : sites_) {
        cycles[std::get<0>(key)] += seen.cycles;
    }
    std::vector<std::pair<uint64_t, uint32_t>> order; // of equal ones the first line comes first
    for (const auto &[line, waited] : cycles) {
        order.emplace_back(~waited, line);
    }
    std::sort(order.begin(), order.end());
    std::set<uint32_t> busiest;
    for (size_t i = 0; i < std::min(lines, order.size()); i++) {
        busiest.insert(order[i].second);
    }

    Tables tables;
    for (const auto &[key, seen] : sites_) {
        if (busiest.count(std::get<0>(key)) != 0) {
            tables.sites.emplace_back(key, seen);
        }
    }
    tables.samples.assign(samples_.begin(), samples_.end());

    std::vector<uint32_t> number(callers_.size() + 1); // the new one of each that is named; 0 stays 0
    const auto use = [&](uint32_t caller) {
        for (; caller != 0 && number[caller] == 0; caller = callers_[caller - 1].parent) {
            number[caller] = 1;
        }
    };
    for (const auto &[key, seen] : tables.sites) {
        use(std::get<2>(key));
    }
    for (const auto &[key, periods] : tables.samples) {
        use(std::get<2>(key));
    }
    for (uint32_t caller = 1; caller < number.size(); caller++) {
        if (number[caller] != 0) {
            tables.callers.push_back({number[callers_[caller - 1].parent], callers_[caller - 1].address});
            number[caller] = static_cast<uint32_t>(tables.callers.size());
        }
    }
    for (auto &[key, seen] : tables.sites) {
        std::get<2>(key) = number[std::get<2>(key)];
    }
    for (auto &[key, periods] : tables.samples) {
        std::get<2>(key) = number[std::get<2>(key)];
    }
    return tables;
}

} // namespace mosbench
