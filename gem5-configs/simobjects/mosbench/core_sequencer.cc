// SPDX-License-Identifier: BSD-3-Clause
#include "mosbench/core_sequencer.hh"

#include <algorithm>
#include <utility>

#include "mosbench/caching_decoder.hh"

namespace gem5::ruby {

namespace {

constexpr Tick kQueueDelay = 1;        // of gem5's queue of responses; without it a processor would see them a cycle late
constexpr uint64_t kMostPerturbed = 4; // cycles

} // namespace

CoreSequencer::CoreSequencer(const Params &p)
    : Sequencer(p), tap_(p.tap), combining_(p.combining), core_(p.core), data_(*p.dcache), instructions_(*p.icache),
      data_latency_(p.data_latency), unlock_latency_(p.unlock_latency), works_ahead_(p.works_ahead), history_(p.history),
      answer_event_([this] { answer(); }, name() + ".answer"), perturbed_(p.trial > 1), random_(uint64_t{p.trial} << 32 | core_),
      late_event_([this] { goOn(); }, name() + ".late")
{
    fatal_if(data_latency_ == Cycles(0) || unlock_latency_ == Cycles(0), "An access takes at least a cycle beside its fetch.");
    if (tap_ != nullptr) {
        tap_->addCore(core_, {p.dcache, p.icache, p.l2cache}, works_ahead_);
    }
    if (combining_ != nullptr) {
        combining_->whenWritten([this] { goOnHeld(); });
    }
}

RequestStatus CoreSequencer::makeRequest(PacketPtr packet)
{
    const RequestPtr request = history_ != nullptr ? packet->req : nullptr;
    const RequestStatus status = issue(packet);
    if (request && status == RequestStatus_Issued && request->isInstFetch() && of_all_.begins(*request) &&
        request->getPC() >> 63 == 0) {
        history_->userInstruction();
    }
    return status;
}

RequestStatus CoreSequencer::issue(PacketPtr packet)
{
    // An instruction that adds to memory is a load and a store, unless it is locked: who only loads asks for a copy.
    if (packet->cmd == MemCmd::ReadReq) {
        packet->req->clearFlags(Request::READ_MODIFY_WRITE);
    }
    if (combining_ != nullptr && combined(packet)) {
        return RequestStatus_Issued;
    }
    if (const Timed *before = delayed(makeLineAddress(packet->getAddr()))) {
        add(late_, late_event_, before->when, packet);
        return RequestStatus_Issued;
    }
    if (hit(packet)) {
        return RequestStatus_Issued;
    }
    const Cycles more(perturbed_ ? random_() % (kMostPerturbed + 1) : 0);
    if (more == Cycles(0)) {
        return Sequencer::makeRequest(packet);
    }
    add(late_, late_event_, clockEdge(more), packet);
    return RequestStatus_Issued;
}

bool CoreSequencer::combined(PacketPtr packet)
{
    const Request &request = *packet->req;
    if (packet->cmd != MemCmd::WriteReq || !request.hasPC() || !CachingDecoder::storesPastCaches(request.getPC())) {
        if (!combining_->delays(packet)) {
            return false;
        }
        held_.push_back({packet, curCycle()});
        return true;
    }
    const WriteCombining::Taken taken = combining_->take(packet);
    if (taken == WriteCombining::Taken::no) {
        held_.push_back({packet, curCycle()});
        return true;
    }
    if (tap_ != nullptr && tap_->counting() && taken == WriteCombining::Taken::opened) {
        tap_->streamed(core_, packet, held_since_ ? curCycle() - *held_since_ : Cycles(0));
    }
    answerAt(clockEdge(dataLatency()) - kQueueDelay, packet);
    return true;
}

void CoreSequencer::goOnHeld()
{
    for (const Held &one : std::exchange(held_, {})) {
        held_since_ = one.since;
        const size_t before = held_.size();
        if (issue(one.packet) != RequestStatus_Issued) {
            add(late_, late_event_, clockEdge(Cycles(1)), one.packet);
        } else if (held_.size() > before) {
            held_.back().since = one.since;
        }
        held_since_.reset();
    }
    testDrainComplete();
}

// What a perturbed trial delays, the last for the line: who works ahead comes behind that. Null if there is none.
const CoreSequencer::Timed *CoreSequencer::delayed(Addr line) const
{
    if (!works_ahead_) {
        return nullptr;
    }
    const auto last = std::find_if(late_.rbegin(), late_.rend(),
                                   [line](const Timed &one) { return makeLineAddress(one.packet->getAddr()) == line; });
    return last != late_.rend() ? &*last : nullptr;
}

// The line may have come meanwhile, or be asked for by another access.
void CoreSequencer::goOn()
{
    for (const Timed &one : takeDue(late_)) {
        if (!hit(one.packet) && Sequencer::makeRequest(one.packet) != RequestStatus_Issued) {
            late_.push_back({clockEdge(Cycles(1)), one.packet});
        }
    }
    scheduleNext(late_, late_event_);
}

RequestStatus CoreSequencer::insertRequest(PacketPtr packet, RubyRequestType primary, RubyRequestType secondary)
{
    const RequestStatus status = Sequencer::insertRequest(packet, primary, secondary);
    if (tap_ == nullptr || !tap_->counting()) {
        return status;
    }
    if (status == RequestStatus_Ready) {
        tap_->request(core_, packet, secondary == RubyRequestType_IFETCH);
    } else if (status == RequestStatus_Aliased && packet->isWrite()) {
        tap_->behind(core_, packet);
    } // a load that waits for a request for the same line that is under way makes no event of its own
    return status;
}

bool CoreSequencer::hit(PacketPtr packet)
{
    const Request &request = *packet->req;
    const bool lock = packet->cmd == MemCmd::LockedRMWReadReq, unlock = packet->cmd == MemCmd::LockedRMWWriteReq;
    const bool write = packet->cmd == MemCmd::WriteReq || unlock;
    if (!write && !lock && packet->cmd != MemCmd::ReadReq) {
        return false;
    }
    const Addr address = packet->getAddr(), line = makeLineAddress(address);
    if (works_ahead_ && m_RequestTable.find(line) != m_RequestTable.end()) {
        return false; // a store of the core's own may be about to write what is loaded
    }
    CacheMemory &cache = request.isInstFetch() ? instructions_ : data_;
    auto *entry = static_cast<L1Cache_Entry *>(cache.lookup(line));
    if (entry == nullptr) {
        return false;
    }
    const bool exclusive = write || lock;
    const AccessPermission has = entry->m_Permission;
    if (has != AccessPermission_Read_Write && (exclusive || has != AccessPermission_Read_Only)) {
        return false;
    }
    if (m_controller->isBlocked(line) != unlock) {
        return false; // locked by an access that another one is part of; or the lock is not held, which the base class judges
    }
    cache.setMRU(entry);
    cache.profileDemandHit();
    DataBlock &data = entry->getDataBlk();
    if (write) {
        data.setData(packet);
        entry->setDirty(true);
    } else {
        packet->setData(data.getData(getOffset(address), packet->getSize()));
    }
    if (lock) {
        // From the read of a locked instruction to its write no other core gets the line.
        m_controller->blockOnQueue(line, m_mandatory_q_ptr);
    } else if (unlock) {
        m_controller->unblock(line);
    }
    if (request.isInstFetch()) {
        answerAt(clockEdge(fetchLatency(request)), packet);
    } else {
        answerAt(clockEdge(unlock ? unlock_latency_ : dataLatency()) - kQueueDelay, packet);
    }
    return true;
}

// A processor sees the rest of an instruction that is fetched in two pieces at once.
Cycles CoreSequencer::fetchLatency(const Request &request)
{
    fetched_ = true;
    return Cycles(of_hits_.begins(request) ? 1 : 0);
}

// Each access of an instruction takes the L1's latency; the fetch is a part of the first one's. A processor that works ahead
// fetched long before, and takes a cycle of its own to make the address.
Cycles CoreSequencer::dataLatency()
{
    if (works_ahead_) {
        return data_latency_;
    }
    const Cycles latency = fetched_ ? data_latency_ : data_latency_ + Cycles(1);
    fetched_ = false;
    return latency;
}

void CoreSequencer::add(Packets &waiting, Event &event, Tick when, PacketPtr packet)
{
    waiting.push_back({when, packet});
    if (!event.scheduled()) {
        schedule(event, when);
    } else if (when < event.when()) {
        reschedule(event, when);
    }
}

CoreSequencer::Packets CoreSequencer::takeDue(Packets &waiting)
{
    const auto due = std::stable_partition(waiting.begin(), waiting.end(), [](const Timed &one) { return one.when > curTick(); });
    Packets taken(due, waiting.end());
    waiting.erase(due, waiting.end());
    return taken;
}

void CoreSequencer::scheduleNext(const Packets &waiting, Event &event)
{
    Tick next = MaxTick;
    for (const Timed &one : waiting) {
        next = std::min(next, one.when);
    }
    if (next != MaxTick) {
        reschedule(event, next, true);
    }
}

void CoreSequencer::answer()
{
    // A processor that is told to try again may ask for more while its answer is given.
    for (const Timed &one : takeDue(answers_)) {
        if (one.packet->req->isInstFetch()) {
            answerFetch(one.packet);
        } else {
            ruby_hit_callback(one.packet);
        }
    }
    scheduleNext(answers_, answer_event_);
    testDrainComplete();
}

// Past the queue, which would make a cycle of it: a processor always takes what it fetches.
void CoreSequencer::answerFetch(PacketPtr packet)
{
    auto *state = safe_cast<SenderState *>(packet->popSenderState());
    MemResponsePort *const port = state->port;
    delete state;
    if (m_ruby_system->getAccessBackingStore()) {
        m_ruby_system->getPhysMem()->access(packet);
    } else {
        packet->makeResponse();
    }
    panic_if(!port->sendTimingResp(packet), "A processor did not take the instruction that it fetched.");
    trySendRetries();
}

} // namespace gem5::ruby
