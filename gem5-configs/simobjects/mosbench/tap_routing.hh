// SPDX-License-Identifier: BSD-3-Clause
#ifndef MOSBENCH_TAP_ROUTING_HH
#define MOSBENCH_TAP_ROUTING_HH

#include <vector>

#include "mosbench/gem5_api.hh"
#include "mosbench/line_tap.hh"

namespace gem5::ruby {

class TapRouting : public WeightBased {
  public:
    PARAMS(TapRouting);
    explicit TapRouting(const Params &p) : WeightBased(p), tap_(*p.tap), socket_(p.socket) {}

    void route(const Message &message, int vnet, bool deterministic, std::vector<RouteInfo> &links) override;

  private:
    LineTap &tap_;
    const unsigned socket_;
};

} // namespace gem5::ruby

#endif
