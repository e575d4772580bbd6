// SPDX-License-Identifier: BSD-3-Clause
//
// Who called the instructions that are counted: callers in a tree, since most chains share their outer part, and for each
// instruction what was seen of it below which caller.
#ifndef MOSBENCH_NATIVE_RECORDS_CHAINS_H
#define MOSBENCH_NATIVE_RECORDS_CHAINS_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace mosbench {

// A place of a call, and by `parent` who called its function: the number of another caller, 0 where the chain ends.
struct Caller {
    uint32_t parent;
    uint64_t address; // the call's return address
};

// Samples for each one that is looked at: there are many, and each costs the host what a look at a transfer does.
inline constexpr uint32_t kSamplesPerLook = 11;

class Chains {
  public:
    struct Seen {
        uint32_t walks = 0;  // transfers at which the stack was looked at
        uint64_t cycles = 0; // that these waited
    };
    using SiteKey = std::tuple<uint32_t, uint64_t, uint32_t>; // line, program counter, caller
    using SampleKey = std::tuple<uint64_t, bool, uint32_t>;   // program counter, kernel, caller

    void clear() { *this = Chains(); }

    // The number of the innermost of these callers, from 1; 0 if there is none. They are given from it outwards.
    uint32_t caller(const uint64_t *addresses, size_t count);

    void transfer(uint32_t line, uint64_t pc, uint32_t caller, uint64_t cycles);
    // A sample was taken. True: who called is to be found out, and told to sample().
    bool next_sample() { return ++samples_passed_ % kSamplesPerLook == 0; }
    void sample(uint64_t pc, bool kernel, uint32_t caller, uint32_t periods) { samples_[{pc, kernel, caller}] += periods; }

    // What is written: the sites of the busiest `lines` lines, by the cycles that they were seen to wait, every sample, and the
    // callers of both, numbered anew from 1; a parent has a smaller number.
    struct Tables {
        std::vector<Caller> callers; // that of number n is [n - 1]
        std::vector<std::pair<SiteKey, Seen>> sites;
        std::vector<std::pair<SampleKey, uint32_t>> samples;
    };
    Tables tables(size_t lines) const;

  private:
    struct Hash {
        size_t operator()(const std::pair<uint32_t, uint64_t> &key) const
        {
            const uint64_t mixed = (key.second ^ uint64_t{key.first} << 40 ^ key.first) * 0x9E3779B97F4A7C15u;
            return mixed ^ mixed >> 32;
        }
        size_t operator()(const SiteKey &key) const
        {
            const uint64_t place = std::get<1>(key) ^ uint64_t { std::get<2>(key) } << 44;
            return (*this)(std::pair(std::get<0>(key), place));
        }
    };

    std::vector<Caller> callers_;
    std::unordered_map<std::pair<uint32_t, uint64_t>, uint32_t, Hash> numbers_; // of (parent, address)
    std::unordered_map<SiteKey, Seen, Hash> sites_;
    std::map<SampleKey, uint32_t> samples_;
    uint64_t samples_passed_ = 0;
};

} // namespace mosbench

#endif
