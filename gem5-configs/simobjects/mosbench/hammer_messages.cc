// SPDX-License-Identifier: BSD-3-Clause
//
// MOESI_hammer's messages. A miss is GETS or GETX, data from the owner's cache or memory, and UNBLOCK.
#include "mosbench/gem5_hammer.hh"
#include "mosbench/line_tap.hh"
#include "mosbench/socket_routing.hh"

namespace gem5::ruby {

using Kind = mosbench::Message; // gem5 has a Message of its own
using mosbench::Source;

namespace {

constexpr unsigned kLineShift = 6;

enum VirtualNetwork { kDmaRequest = 0, kDmaResponse = 1, kRequest = 2, kForward = 3, kResponse = 4, kUnblock = 5 };

uint32_t bytesOf(const Message &message)
{
    return Network::MessageSizeType_to_int(message.getMessageSize());
}

bool isData(CoherenceResponseType type)
{
    return type == CoherenceResponseType_DATA || type == CoherenceResponseType_DATA_SHARED ||
           type == CoherenceResponseType_DATA_EXCLUSIVE;
}

class Hammer : public LineTap::Protocol {
  public:
    using Protocol::Protocol;

    void message(const Message &message, int vnet, unsigned socket) override;
    // There is no third level.
    std::set<std::string> unknown() const override
    {
        return {"lines.l3_hits", "sites.l3_hits", "cores.l3_hits", "cores.l3_cycles"};
    }

  private:
    unsigned socketOf(const MachineID &machine) const;
    void coreRequest(const RequestMsg &message);
    void forward(const RequestMsg &message);
    void response(const ResponseMsg &message);
    void finished(const ResponseMsg &message);
    void data(const ResponseMsg &message, unsigned requester);
};

unsigned Hammer::socketOf(const MachineID &machine) const
{
    switch (machine.type) {
    case MachineType_L1Cache:
        return machine.num < tap_.cores() ? tap_.socketOf(machine.num) : tap_.idleSocket(machine.num - tap_.cores());
    case MachineType_Directory:
        return machine.num;
    default:
        return 0; // devices are at the first socket
    }
}

void Hammer::message(const Message &message, int vnet, unsigned socket)
{
    switch (vnet) {
    case kRequest: {
        const auto &request = static_cast<const RequestMsg &>(message);
        if (socketOf(request.getRequestor()) == socket) {
            coreRequest(request);
        }
        break;
    }
    case kForward: {
        const auto &forwarded = static_cast<const RequestMsg &>(message);
        if (tap_.home(forwarded.getaddr()) == socket) {
            forward(forwarded);
        }
        break;
    }
    case kResponse: {
        const auto &answer = static_cast<const ResponseMsg &>(message);
        if (socketOf(answer.getSender()) == socket) {
            response(answer);
        }
        break;
    }
    case kUnblock: {
        const auto &answer = static_cast<const ResponseMsg &>(message);
        if (socketOf(answer.getSender()) == socket) {
            finished(answer);
        }
        break;
    }
    case kDmaRequest: {
        const auto &request = static_cast<const DMARequestMsg &>(message);
        if (socket == 0) {
            tap_.records().message(tap_.home(request.getLineAddress()), 0, Kind::dma, bytesOf(message));
        }
        break;
    }
    case kDmaResponse: {
        const auto &answer = static_cast<const DMAResponseMsg &>(message);
        const unsigned at = tap_.home(answer.getLineAddress());
        if (at == socket) {
            tap_.records().message(at, 0, Kind::dma, bytesOf(message));
        }
        break;
    }
    default:
        panic("The line tap does not know virtual network %d of this protocol.", vnet);
    }
}

void Hammer::coreRequest(const RequestMsg &message)
{
    const unsigned core = message.getRequestor().num, at = tap_.home(message.getaddr());
    const uint64_t line = message.getaddr() >> kLineShift;
    const CoherenceRequestType type = message.getType();
    if (type != CoherenceRequestType_GETS && type != CoherenceRequestType_GETX) {
        tap_.records().message(at, tap_.socketOf(core), Kind::writeback, bytesOf(message)); // PUT and what belongs to it
        return;
    }
    const bool exclusive = type == CoherenceRequestType_GETX;
    const bool upgrade = tap_.leaves(core, line, exclusive) && exclusive;
    tap_.records().message(at, tap_.socketOf(core),
                           type == CoherenceRequestType_GETS ? Kind::read
                           : upgrade                         ? Kind::upgrade
                                                             : Kind::read_exclusive,
                           bytesOf(message));
}

void Hammer::forward(const RequestMsg &message)
{
    const unsigned at = tap_.home(message.getaddr()), requester = socketOf(message.getRequestor());
    const CoherenceRequestType type = message.getType();
    const NetDest &to = message.getDestination();
    const uint32_t count = static_cast<uint32_t>(to.count());
    switch (type) {
    case CoherenceRequestType_GETS:
    case CoherenceRequestType_MERGED_GETS:
    case CoherenceRequestType_GETX:
    case CoherenceRequestType_GETF:
        tap_.records().message(at, requester, count == 1 ? Kind::directed_probe : Kind::broadcast_probe, bytesOf(message), count);
        break;
    case CoherenceRequestType_INV:
        tap_.records().message(at, at, Kind::back_invalidation, bytesOf(message), count);
        break;
    default: // acknowledgements of writebacks
        tap_.records().message(at, requester, Kind::writeback, bytesOf(message), count);
        return;
    }
    if (type == CoherenceRequestType_GETS || type == CoherenceRequestType_MERGED_GETS) {
        return;
    }
    // Who has a copy now loses it: an answer does not tell (a cache without one acknowledges too).
    tap_.copiesLost(message.getaddr(), [&](unsigned core) {
        const MachineID machine{MachineType_L1Cache, core};
        return machine != message.getRequestor() && to.isElement(machine);
    });
}

void Hammer::response(const ResponseMsg &message)
{
    const unsigned at = tap_.home(message.getaddr());
    const bool from_core = message.getSender().type == MachineType_L1Cache;
    const NetDest &to = message.getDestination();
    if (!isData(message.getType())) {
        // The acknowledgement of a probe; counted with the probes that caused it.
        const MachineID requester = to.smallestElement();
        tap_.records().message(at, socketOf(requester), Kind::broadcast_probe, bytesOf(message));
        return;
    }
    for (unsigned core = 0; core < tap_.cores(); core++) {
        const MachineID machine{MachineType_L1Cache, core};
        if (to.isElement(machine)) {
            tap_.records().message(at, tap_.socketOf(core), from_core ? Kind::data_from_core : Kind::data_from_memory,
                                   bytesOf(message));
            data(message, core);
        }
    }
}

void Hammer::data(const ResponseMsg &message, unsigned requester)
{
    LineTap::Access *access = tap_.outside(requester, message.getaddr() >> kLineShift, LineTap::Which::last);
    if (access == nullptr) {
        return; // began before the region
    }
    if (access->held && access->exclusive) {
        return; // the protocol sends data with the right to write, but the core has them
    }
    const unsigned socket = tap_.socketOf(requester);
    if (message.getSender().type == MachineType_L1Cache) {
        const unsigned owner = message.getSender().num;
        access->source = tap_.socketOf(owner) == socket ? Source::core_same_socket : Source::core_other_socket;
        if (!access->exclusive && message.getType() == CoherenceResponseType_DATA_EXCLUSIVE) {
            // A line that its owner wrote moves as a whole, also to a reader.
            tap_.records().copy_lost(static_cast<uint32_t>(access->line), tap_.coreNumber(owner));
        }
    } else if (!access->got_data) { // memory's copy is passed over where a core sent the line
        access->source = message.getSender().num == socket ? Source::dram_local : Source::dram_remote;
    }
    access->got_data = true;
}

void Hammer::finished(const ResponseMsg &message)
{
    if (message.getSender().type != MachineType_L1Cache) {
        panic("The line tap did not expect an unblock message from %s.", MachineType_to_string(message.getSender().type));
    }
    const unsigned core = message.getSender().num, at = tap_.home(message.getaddr());
    switch (message.getType()) {
    case CoherenceResponseType_UNBLOCKS:
    case CoherenceResponseType_UNBLOCKM: {
        LineTap::Access *access = tap_.outside(core, message.getaddr() >> kLineShift, LineTap::Which::first);
        if (access != nullptr) {
            tap_.finish(*access, access->held && access->exclusive);
        }
        break;
    }
    case CoherenceResponseType_WB_DIRTY:
    case CoherenceResponseType_WB_EXCLUSIVE_DIRTY:
        tap_.records().written_back(static_cast<uint32_t>(message.getaddr() >> kLineShift), tap_.coreNumber(core));
        tap_.records().message(at, tap_.socketOf(core), Kind::writeback, bytesOf(message));
        break;
    default:
        tap_.records().message(at, tap_.socketOf(core), Kind::writeback, bytesOf(message));
        break;
    }
}

} // namespace

std::unique_ptr<LineTap::Protocol> LineTap::Protocol::make(LineTap &tap)
{
    return std::make_unique<Hammer>(tap);
}

// A reader takes a line that its owner has written away from the owner in this protocol (migratory sharing), unless the owner has
// marked it as one of atomic accesses. The Opteron has no such thing: the owner keeps a copy (owned). So each line is marked that
// a reader is about to ask a core of this socket for.
void SocketRouting::prepare(const Message &message, int vnet)
{
    if (vnet != kForward) {
        return;
    }
    const auto &probe = static_cast<const RequestMsg &>(message);
    if (probe.getType() != CoherenceRequestType_GETS) {
        return;
    }
    const size_t levels = cores_.empty() ? 0 : caches_.size() / cores_.size();
    for (size_t i = 0; i < cores_.size(); i++) {
        if (!probe.getDestination().isElement(MachineID{MachineType_L1Cache, cores_[i]})) {
            continue;
        }
        for (size_t level = 0; level < levels; level++) {
            if (AbstractCacheEntry *entry = caches_[i * levels + level]->lookup(probe.getaddr())) {
                static_cast<L1Cache_Entry *>(entry)->setAtomicAccessed(true);
            }
        }
    }
}

} // namespace gem5::ruby
