// SPDX-License-Identifier: BSD-3-Clause
#ifndef MOSBENCH_FETCHED_INSTRUCTIONS_HH
#define MOSBENCH_FETCHED_INSTRUCTIONS_HH

#include "mosbench/gem5_api.hh"

namespace gem5 {

// The fetches of a processor that executes in order. An instruction that is not in one of the pieces that gem5's decoder asks for
// is fetched in two.
class FetchedInstructions {
  public:
    // Whether a fetch is of another instruction than the one before, or of the same one again.
    bool begins(const Request &fetch)
    {
        const Addr pc = fetch.getPC(), at = fetch.getVaddr();
        const bool rest = pc == pc_ && at > at_;
        pc_ = pc;
        at_ = at;
        return !rest;
    }

  private:
    Addr pc_ = 0, at_ = 0;
};

} // namespace gem5

#endif
