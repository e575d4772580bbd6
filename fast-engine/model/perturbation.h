// SPDX-License-Identifier: GPL-2.0-or-later
//
// What makes the trials of a machine differ. One run of a contended program tells who happened to meet whom. So other trials take
// a few cycles more for each request, as many as trial and number of the request say: a way of Alameldeen and Wood's
// ("Variability in architectural simulations of multi-threaded workloads", HPCA 2003), who add up to 4 ns to each miss.
#ifndef MOSBENCH_MODEL_PERTURBATION_H
#define MOSBENCH_MODEL_PERTURBATION_H

#include <cstdint>

namespace mosbench {

class Perturbation {
  public:
    // The most cycles that a request of a trial other than the first takes longer: so few that it is the same machine.
    static constexpr uint64_t kMost = 4;

    explicit Perturbation(uint32_t trial) : trial_(trial) {}

    uint64_t cycles(uint64_t transaction) const
    {
        if (trial_ == 1) {
            return 0;
        }
        uint64_t mixed = transaction + trial_ * 0x9E3779B97F4A7C15u; // splitmix64
        mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9u;
        mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBu;
        return (mixed ^ mixed >> 31) % (kMost + 1);
    }

  private:
    uint32_t trial_;
};

} // namespace mosbench

#endif
