// SPDX-License-Identifier: BSD-3-Clause
#include "mosbench/line_tap.hh"

#include <algorithm>

#include "native/records/records_file.h"

namespace gem5::ruby {

using mosbench::AccessKind;
using Kind = mosbench::Message; // gem5 has a Message of its own
using mosbench::Source;

namespace {

constexpr unsigned kLineShift = 6;

uint32_t bytesOf(const gem5::ruby::Message &message)
{
    return Network::MessageSizeType_to_int(message.getMessageSize());
}

bool isData(CoherenceResponseType type)
{
    return type == CoherenceResponseType_DATA || type == CoherenceResponseType_DATA_SHARED ||
           type == CoherenceResponseType_DATA_EXCLUSIVE;
}

} // namespace

LineTap::LineTap(const Params &p)
    : ClockedObject(p), machine_(p.machine), sockets_(p.sockets), cores_per_socket_(p.cores_per_socket), cpus_(p.cpus),
      core_numbers_(p.core_numbers), idle_sockets_(p.idle_sockets), home_ranges_(p.home_ranges), home_nodes_(p.home_nodes),
      completion_offset_(p.completion_offset), l2_cycles_(p.l2_cycles), sample_period_(p.sample_period), cores_(p.cpus.size()),
      link_messages_(MessageSizeType_NUM), sample_event_([this] { sample(); }, name() + ".sample")
{
    fatal_if(sockets_ == 0 || sockets_ > mosbench::kMaxSockets, "The line tap counts for 1 to %d sockets, not %d.",
             mosbench::kMaxSockets, sockets_);
    fatal_if(core_numbers_.size() != cpus_.size(), "The line tap needs a number for each core.");
    fatal_if(home_nodes_.size() != home_ranges_.size(), "The line tap needs a node for each range of memory.");
    Addr top = 0;
    for (const AddrRange &range : home_ranges_) {
        top = std::max(top, range.end());
    }
    uint32_t most = 0;
    for (unsigned number : core_numbers_) {
        most = std::max<uint32_t>(most, number + 1);
    }
    fatal_if(most > mosbench::kMaxCores, "The line tap counts for %d cores at most.", mosbench::kMaxCores);
    records_ = std::make_unique<mosbench::Records>((top >> kLineShift) + 1, sockets_, most, false);
}

void LineTap::addCore(unsigned core, std::array<CacheMemory *, 3> caches)
{
    fatal_if(core >= cores_.size(), "The line tap has no core %d.", core);
    cores_[core].caches = caches;
}

void LineTap::startup()
{
    ClockedObject::startup();
    for (size_t core = 0; core < cores_.size(); core++) {
        fatal_if(cores_[core].caches[0] == nullptr, "Core %d has no sequencer that tells the line tap of its accesses.", core);
    }
}

void LineTap::begin()
{
    records_->clear();
    link_messages_.assign(link_messages_.size(), 0);
    for (Core &core : cores_) {
        core.accesses = {};
        core.until_sample = sample_period_;
    }
    counting_ = true;
    began_ = curCycle();
    if (sample_period_ != 0 && !sample_event_.scheduled()) {
        schedule(sample_event_, clockEdge(sample_period_));
    }
}

void LineTap::end()
{
    for (Core &core : cores_) {
        for (Access &access : core.accesses) {
            if (!access.outside) {
                book(access);
            }
        }
    }
    counting_ = false;
    ended_ = curCycle();
    if (sample_event_.scheduled()) {
        deschedule(sample_event_);
    }
}

void LineTap::coreTotals(unsigned core, uint64_t cycles, uint64_t instructions, uint64_t idle_cycles)
{
    fatal_if(core >= cores_.size(), "The line tap has no core %d.", core);
    mosbench::CoreTotals totals;
    totals.cycles = cycles;
    totals.instructions = instructions;
    totals.idle_cycles = idle_cycles;
    records_->core_totals(static_cast<uint16_t>(core_numbers_[core]), totals);
}

std::string LineTap::write(const std::string &path) const
{
    mosbench::FileHeader header{"gem5", machine_, sample_period_, ended_ - began_, {}};
    // MOESI_hammer has no third level, so there is nothing to know of it. What a processor's instructions and L1 hits take, it
    // does not tell; nor its DMA, which device asked.
    header.unknown = {
        "lines.l3_hits",   "sites.l3_hits",      "cores.l3_hits",     "cores.l3_cycles",  "cores.instruction_cycles",
        "cores.l1_cycles", "cores.pause_cycles", "cores.card_cycles", "lines.card_reads", "lines.card_writes"};
    return mosbench::write_records(path, header, *records_, [](uint32_t line) { return uint64_t{line} << kLineShift; });
}

// A core runs when its thread is active; one sample each period, all cores at the same time.
void LineTap::sample()
{
    for (size_t core = 0; core < cpus_.size(); core++) {
        ThreadContext *thread = cpus_[core]->getContext(0);
        if (thread->status() == ThreadContext::Active) {
            const Addr pc = thread->pcState().instAddr();
            records_->sample(static_cast<uint16_t>(core_numbers_[core]), pc, pc >> 63, 1);
        }
    }
    schedule(sample_event_, clockEdge(sample_period_));
}

unsigned LineTap::home(Addr address) const
{
    for (size_t i = 0; i < home_ranges_.size(); i++) {
        if (home_ranges_[i].contains(address)) {
            return home_nodes_[i];
        }
    }
    panic("Physical address %#x has no home.", address);
}

unsigned LineTap::socketOf(const MachineID &machine) const
{
    switch (machine.type) {
    case MachineType_L1Cache:
        return machine.num < cores_.size() ? socketOf(machine.num) : idle_sockets_.at(machine.num - cores_.size());
    case MachineType_Directory:
        return machine.num;
    default:
        return 0; // devices are at the first socket
    }
}

bool LineTap::holds(unsigned core, Addr address) const
{
    for (const CacheMemory *cache : cores_[core].caches) {
        if (cache->isTagPresent(address)) {
            return true;
        }
    }
    return false;
}

void LineTap::request(unsigned core, const PacketPtr packet, bool instruction)
{
    const Addr address = packet->getAddr(), line = address >> kLineShift << kLineShift;
    Core &state = cores_[core];
    Access *access = nullptr;
    for (Access &known : state.accesses) {
        if (known.line == line >> kLineShift && !known.outside) {
            access = &known;
        }
    }
    for (size_t i = 0; access == nullptr && i < state.accesses.size(); i++) {
        Access &candidate = state.accesses[state.next++ % state.accesses.size()];
        if (!candidate.outside) {
            access = &candidate;
        }
    }
    if (access == nullptr) {
        return; // four misses under way: not with the CPUs that this is for
    }
    book(*access);
    const auto &request = packet->req;
    const bool has_pc = request->hasPC();
    const Addr pc = has_pc ? request->getPC() : cpus_[core]->getContext(0)->pcState().instAddr();
    const bool read = !packet->isWrite() && !request->isLockedRMW() && !request->isReadModifyWrite();
    *access = Access{};
    access->line = line >> kLineShift;
    access->who = {pc,
                   request->hasVaddr() ? request->getVaddr() : 0,
                   static_cast<uint32_t>(line >> kLineShift),
                   static_cast<uint16_t>(core_numbers_[core]),
                   read                     ? AccessKind::read
                   : request->isLockedRMW() ? AccessKind::atomic
                                            : AccessKind::write,
                   pc >> 63 != 0,
                   has_pc && request->hasVaddr(),
                   static_cast<uint8_t>(std::min<Addr>(packet->getSize(), line + (Addr{1} << kLineShift) - address))};
    access->issued = curCycle();
    const bool in_l1 = state.caches[instruction ? 1 : 0]->isTagPresent(line);
    access->held = holds(core, line);
    access->in_l2 = !in_l1 && state.caches[2]->isTagPresent(line);
}

void LineTap::book(Access &access)
{
    if (access.in_l2) {
        records_->event(access.who, Source::l2, false, l2_cycles_);
        access.in_l2 = false;
    }
}

LineTap::Access *LineTap::outside(unsigned core, uint64_t line, Which which)
{
    Access *found = nullptr;
    for (Access &access : cores_[core].accesses) {
        if (access.outside && access.line == line &&
            (found == nullptr || (which == Which::first) == (access.issued < found->issued))) {
            found = &access;
        }
    }
    return found;
}

void LineTap::message(const Message &message, int vnet, unsigned socket, size_t links)
{
    link_messages_[message.getMessageSize()] += links;
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
        if (home(forwarded.getaddr()) == socket) {
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
            records_->message(home(request.getLineAddress()), 0, Kind::dma, bytesOf(message));
        }
        break;
    }
    case kDmaResponse: {
        const auto &answer = static_cast<const DMAResponseMsg &>(message);
        const unsigned at = home(answer.getLineAddress());
        if (at == socket) {
            records_->message(at, 0, Kind::dma, bytesOf(message));
        }
        break;
    }
    default:
        panic("The line tap does not know virtual network %d of this protocol.", vnet);
    }
}

void LineTap::coreRequest(const RequestMsg &message)
{
    const unsigned core = message.getRequestor().num, at = home(message.getaddr());
    const uint64_t line = message.getaddr() >> kLineShift;
    const CoherenceRequestType type = message.getType();
    if (type != CoherenceRequestType_GETS && type != CoherenceRequestType_GETX) {
        records_->message(at, socketOf(core), Kind::writeback, bytesOf(message)); // PUT and what belongs to it
        return;
    }
    bool upgrade = false;
    for (Access &access : cores_[core].accesses) {
        if (access.line == line && !access.outside) {
            access.outside = true;
            access.exclusive = type == CoherenceRequestType_GETX;
            upgrade = access.held && access.exclusive;
        }
    }
    records_->message(at, socketOf(core),
                      type == CoherenceRequestType_GETS ? Kind::read
                      : upgrade                         ? Kind::upgrade
                                                        : Kind::read_exclusive,
                      bytesOf(message));
}

void LineTap::forward(const RequestMsg &message)
{
    const unsigned at = home(message.getaddr()), requester = socketOf(message.getRequestor());
    const CoherenceRequestType type = message.getType();
    const NetDest &to = message.getDestination();
    const uint32_t count = static_cast<uint32_t>(to.count());
    switch (type) {
    case CoherenceRequestType_GETS:
    case CoherenceRequestType_MERGED_GETS:
    case CoherenceRequestType_GETX:
    case CoherenceRequestType_GETF:
        records_->message(at, requester, count == 1 ? Kind::directed_probe : Kind::broadcast_probe, bytesOf(message), count);
        break;
    case CoherenceRequestType_INV:
        records_->message(at, at, Kind::back_invalidation, bytesOf(message), count);
        break;
    default: // acknowledgements of writebacks
        records_->message(at, requester, Kind::writeback, bytesOf(message), count);
        return;
    }
    if (type == CoherenceRequestType_GETS || type == CoherenceRequestType_MERGED_GETS) {
        return;
    }
    // Who has a copy now loses it: an answer does not tell (a cache without one acknowledges too).
    for (unsigned core = 0; core < cores_.size(); core++) {
        const MachineID machine{MachineType_L1Cache, core};
        if (machine != message.getRequestor() && to.isElement(machine) && holds(core, message.getaddr())) {
            records_->copy_lost(static_cast<uint32_t>(message.getaddr() >> kLineShift), core_numbers_[core]);
            if (Access *access = outside(core, message.getaddr() >> kLineShift, Which::last)) {
                access->held = false; // it waits for the right to write a copy that is gone now
            }
        }
    }
}

void LineTap::response(const ResponseMsg &message)
{
    const unsigned at = home(message.getaddr());
    const bool from_core = message.getSender().type == MachineType_L1Cache;
    const NetDest &to = message.getDestination();
    if (!isData(message.getType())) {
        // The acknowledgement of a probe; counted with the probes that caused it.
        const MachineID requester = to.smallestElement();
        records_->message(at, socketOf(requester), Kind::broadcast_probe, bytesOf(message));
        return;
    }
    for (unsigned core = 0; core < cores_.size(); core++) {
        const MachineID machine{MachineType_L1Cache, core};
        if (to.isElement(machine)) {
            records_->message(at, socketOf(core), from_core ? Kind::data_from_core : Kind::data_from_memory, bytesOf(message));
            data(message, core);
        }
    }
}

void LineTap::data(const ResponseMsg &message, unsigned requester)
{
    Access *access = outside(requester, message.getaddr() >> kLineShift, Which::last);
    if (access == nullptr) {
        return; // began before the region
    }
    if (access->held && access->exclusive) {
        return; // the protocol sends data with the right to write, but the core has them
    }
    const unsigned socket = socketOf(requester);
    if (message.getSender().type == MachineType_L1Cache) {
        const unsigned owner = message.getSender().num;
        access->source = socketOf(owner) == socket ? Source::core_same_socket : Source::core_other_socket;
        if (!access->exclusive && message.getType() == CoherenceResponseType_DATA_EXCLUSIVE) {
            // A line that its owner wrote moves as a whole, also to a reader.
            records_->copy_lost(static_cast<uint32_t>(access->line), core_numbers_[owner]);
        }
    } else if (!access->got_data) { // memory's copy is passed over where a core sent the line
        access->source = message.getSender().num == socket ? Source::dram_local : Source::dram_remote;
    }
    access->got_data = true;
}

void LineTap::finished(const ResponseMsg &message)
{
    if (message.getSender().type != MachineType_L1Cache) {
        panic("The line tap did not expect an unblock message from %s.", MachineType_to_string(message.getSender().type));
    }
    const unsigned core = message.getSender().num, at = home(message.getaddr());
    switch (message.getType()) {
    case CoherenceResponseType_UNBLOCKS:
    case CoherenceResponseType_UNBLOCKM: {
        Access *access = outside(core, message.getaddr() >> kLineShift, Which::first);
        if (access != nullptr) {
            const Cycles took = curCycle() - access->issued;
            records_->event(access->who, access->source, access->held && access->exclusive,
                            took > completion_offset_ ? took - completion_offset_ : Cycles(0));
            *access = Access{};
        }
        break;
    }
    case CoherenceResponseType_WB_DIRTY:
    case CoherenceResponseType_WB_EXCLUSIVE_DIRTY:
        records_->written_back(static_cast<uint32_t>(message.getaddr() >> kLineShift), core_numbers_[core]);
        records_->message(at, socketOf(core), Kind::writeback, bytesOf(message));
        break;
    default:
        records_->message(at, socketOf(core), Kind::writeback, bytesOf(message));
        break;
    }
}

} // namespace gem5::ruby
