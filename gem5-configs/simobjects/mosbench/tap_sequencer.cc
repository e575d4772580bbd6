// SPDX-License-Identifier: BSD-3-Clause
#include "mosbench/tap_sequencer.hh"

namespace gem5::ruby {

TapSequencer::TapSequencer(const Params &p) : Sequencer(p), tap_(*p.tap), core_(p.core)
{
    tap_.addCore(core_, {p.dcache, p.icache, p.l2cache});
}

RequestStatus TapSequencer::insertRequest(PacketPtr packet, RubyRequestType primary, RubyRequestType secondary)
{
    const RequestStatus status = Sequencer::insertRequest(packet, primary, secondary);
    // Aliased: it waits for a request for the same line that is under way, and makes no event of its own.
    if (status == RequestStatus_Ready && tap_.counting()) {
        tap_.request(core_, packet, secondary == RubyRequestType_IFETCH);
    }
    return status;
}

} // namespace gem5::ruby
