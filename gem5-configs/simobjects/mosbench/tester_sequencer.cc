// SPDX-License-Identifier: BSD-3-Clause
#include "mosbench/tester_sequencer.hh"

namespace gem5::ruby {

TesterSequencer::TesterSequencer(const Params &p) : Sequencer(p)
{
}

RequestStatus TesterSequencer::makeRequest(PacketPtr packet)
{
    if (packet->isRead() && m_RequestTable.find(makeLineAddress(packet->getAddr())) != m_RequestTable.end()) {
        return RequestStatus_BufferFull;
    }
    return Sequencer::makeRequest(packet);
}

} // namespace gem5::ruby
