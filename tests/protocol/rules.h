// SPDX-License-Identifier: BSD-3-Clause
//
// The rules that keep the protocol's races harmless. A search can leave one out, to show the fault that it prevents.
#ifndef MOSBENCH_TESTS_PROTOCOL_RULES_H
#define MOSBENCH_TESTS_PROTOCOL_RULES_H

#include <array>
#include <cstdint>
#include <string_view>

namespace mosbench::protocol {

enum class Rule : uint8_t {
    probes_in_order,          // from a home to a node
    reports_in_order,         // from a core to its node
    probe_waits_for_grant,    // till the core said that it has what it was granted
    request_waits_for_victim, // while the node lists the asker, whose victim is on its way
    request_waits_for_writeback,
    invalidation_takes_writeback, // the value that the node is writing back
    put_of_owner_only,            // homes take a writeback from nobody else
    upgrade_of_holder_only,       // at the home: a sole upgrade of a node without a copy is a write
    upgrade_of_given_only,        // at the home: another upgrade, of a core that was not given the line since, is a write
    sole_upgrade_is_alone,        // nothing else of the node is at the home
    upgrade_of_listed_only,       // at the node: a core without a copy is sent data
    upgrade_spares_asker,         // its own probe leaves the copy that is upgraded
    owner_kept_under_request,     // the L3 does not evict a line that it owns while a request is at the home
    overtaken_read_not_kept,      // the data of a read that an invalidation overtook are read once
    invalidation_names_given,     // the cores that the home had given the line: their reads may be overtaken
    reads_told_by_core,           // memory's data for a read are not taken for those of the request that holds the line
};

inline constexpr std::array<std::string_view, 16> kRules{
    "probes_in_order",
    "reports_in_order",
    "probe_waits_for_grant",
    "request_waits_for_victim",
    "request_waits_for_writeback",
    "invalidation_takes_writeback",
    "put_of_owner_only",
    "upgrade_of_holder_only",
    "upgrade_of_given_only",
    "sole_upgrade_is_alone",
    "upgrade_of_listed_only",
    "upgrade_spares_asker",
    "owner_kept_under_request",
    "overtaken_read_not_kept",
    "invalidation_names_given",
    "reads_told_by_core",
};

// What a search explores.
struct Setup {
    bool devices = false;  // a device reads and writes the line
    bool fetches = false;  // cores fetch instructions from it
    bool lookups = false;  // cores look it up in their second level, and a probe may come meanwhile
    uint32_t left_out = 0; // a bit for each rule

    bool holds(Rule rule) const { return (left_out >> static_cast<unsigned>(rule) & 1) == 0; }
    Setup without(Rule rule) const
    {
        Setup changed = *this;
        changed.left_out |= uint32_t{1} << static_cast<unsigned>(rule);
        return changed;
    }
};

} // namespace mosbench::protocol

#endif
