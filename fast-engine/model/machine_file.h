// SPDX-License-Identifier: GPL-2.0-or-later
//
// The machine, and which trial on it, as the model needs them, from a text file of "key value" lines that the harness writes.
// What a key can be is in machines/schema.toml, and who writes the file sees to it; here only what the model has room for is
// checked.
#ifndef MOSBENCH_MODEL_MACHINE_FILE_H
#define MOSBENCH_MODEL_MACHINE_FILE_H

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "native/records/records.h"

namespace mosbench {

// The file is not a machine; what() is one sentence that names the key and what is wrong with it.
class MachineError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

constexpr uint32_t kMostStoreBuffer = 64, kMostOutstanding = 16, kMostCodePrefetch = 4;

struct CacheShape {
    uint32_t sets; // a power of two
    uint32_t ways;
};

using SocketTable = std::array<std::array<uint32_t, kMaxSockets>, kMaxSockets>;

// Latencies are round trips as a core sees them, in core cycles.
struct Machine {
    std::string name;
    uint32_t sockets, cores_per_socket;
    double clock_ghz;
    CacheShape l1d, l1i, l2, l3; // l3: per socket, without the part that the probe filter takes
    CacheShape probe_filter;     // per home node; no sets: there is none
    uint32_t l1_cycles, l2_cycles, l3_cycles;
    uint32_t dram_local_cycles;                       // memory of the core's own node
    uint32_t hop_cycles;                              // of a packet and its answer over a link
    uint32_t transfer_cycles;                         // dirty line of another core of the same socket that is also the home
    uint32_t read_busy_cycles;                        // of a line's home with a read that changes no owner
    std::vector<std::pair<uint32_t, uint32_t>> links; // socket pairs
    SocketTable hops;                                 // links on a shortest way, [from][to]
    SocketTable memory_cycles;                        // [socket of the core][home]
    double link_gbytes_per_second;                    // per direction
    double dram_gbytes_per_second;                    // per node
    uint32_t node_mib;
    bool interleave_lines; // homes by line instead of by node
    uint32_t sample_period_cycles;
    uint32_t chain_period_transfers; // of a site, between two looks at its stack; 0: none
    bool count_hits;                 // no filters: every access is counted
    uint32_t trial;                  // from 1; the others are perturbed, each in another way
    bool works_ahead;                // overlap.h; what follows is of such cores
    uint32_t window_instructions;    // behind a load that misses, whose misses overlap with it
    uint32_t hidden_cycles;          // of a load's latency, that the core has other work for
    uint32_t outstanding_misses;
    uint32_t outstanding_stores;
    uint32_t code_prefetch_lines; // behind one that the L1I misses
    uint32_t store_buffer_entries;

    uint32_t cores() const { return sockets * cores_per_socket; }
    bool filtered() const { return probe_filter.sets > 0; }
    uint32_t socket_of(uint32_t core) const { return core / cores_per_socket; }
    // The smallest time from a request of one core to its effect on another, whom the home's probe reaches after half of a
    // transfer in one socket: none may run further ahead of another.
    uint32_t quantum() const { return (transfer_cycles < dram_local_cycles ? transfer_cycles : dram_local_cycles) / 2; }
};

// Throws MachineError.
Machine parse_machine(const std::string &text);
Machine load_machine(const std::string &path);

} // namespace mosbench

#endif
