// SPDX-License-Identifier: BSD-3-Clause
#ifndef MOSBENCH_TAP_SEQUENCER_HH
#define MOSBENCH_TAP_SEQUENCER_HH

#include "mosbench/gem5_api.hh"
#include "mosbench/line_tap.hh"

namespace gem5::ruby {

class TapSequencer : public Sequencer {
  public:
    PARAMS(TapSequencer);
    explicit TapSequencer(const Params &p);

  protected:
    RequestStatus insertRequest(PacketPtr packet, RubyRequestType primary, RubyRequestType secondary) override;

  private:
    LineTap &tap_;
    const unsigned core_;
};

} // namespace gem5::ruby

#endif
