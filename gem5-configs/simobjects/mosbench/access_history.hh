// SPDX-License-Identifier: BSD-3-Clause
//
// Which core last read, fetched and wrote each line, in which order: what is needed to fill caches, of any size and by any
// protocol, as if all accesses had gone through them. Barr, Pan, Zhang and Asanovic, "Accelerating Multiprocessor Simulation with
// a Memory Timestamp Record" (ISPASS 2005): of all accesses to a line only the last write, and each core's last read after it,
// leave a trace in the caches.
//
// It also counts the instructions that programs execute, outside of the kernel. Waiting and idling are the kernel's, so these are
// a measure of the work that is done: Wenisch et al., "SimFlex: Statistical Sampling of Computer System Simulation" (IEEE Micro
// 26(4), 2006).
#ifndef MOSBENCH_ACCESS_HISTORY_HH
#define MOSBENCH_ACCESS_HISTORY_HH

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "mosbench/gem5_api.hh"

namespace gem5 {

class AccessHistory : public SimObject {
  public:
    enum class Kind { read, fetch, write };

    struct Access {
        uint64_t when; // its place in the order of all accesses
        Addr line;     // physical address of its first byte
        unsigned core;
        Kind kind;
    };

    PARAMS(AccessHistory);
    explicit AccessHistory(const Params &p) : SimObject(p), counts_only_(p.counts_only), cores_(p.cores) {}

    // A core accesses the line at a physical address.
    void access(unsigned core, Addr line, Kind kind);
    // A device writes it, so that no core has it any more.
    void byDevice(Addr line);
    // A processor begins to fetch an instruction of a program.
    void userInstruction()
    {
        user_instructions_++;
        if (user_instructions_ == stop_at_) {
            exitSimLoop("instructions of programs");
        }
    }

    // For Python: let the simulation stop once programs have executed so many instructions; 0: never.
    void stopAt(uint64_t instructions) { stop_at_ = instructions; }
    uint64_t userInstructions() const { return user_instructions_; }

    // The accesses that caches can still show, oldest first, of the cores of each socket (`sockets`: of each core) no more than
    // the last `lines`.
    std::vector<Access> shown(const std::vector<unsigned> &sockets, uint64_t lines) const;

  private:
    struct Last {
        uint64_t read = 0, fetch = 0, write = 0; // 0: never
    };

    const bool counts_only_;
    // Of a core; the map's elements stay where they are.
    struct Core {
        struct Recent {
            Addr line = MaxAddr;
            Last *last = nullptr;
        };

        std::unordered_map<Addr, Last> lines;
        std::array<Recent, 512> recent; // most accesses are to one of these
    };

    std::vector<Core> cores_;
    std::unordered_map<Addr, uint64_t> by_device_; // when last written
    uint64_t now_ = 0, user_instructions_ = 0, stop_at_ = 0;
};

} // namespace gem5

#endif
