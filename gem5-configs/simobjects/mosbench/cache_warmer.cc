// SPDX-License-Identifier: BSD-3-Clause
#include "mosbench/cache_warmer.hh"

#include <utility>

namespace gem5::ruby {

namespace {

constexpr unsigned kBytes = 8;             // of an access; which of a line's does not matter
constexpr Addr kNoProgram = Addr{1} << 63; // for a program counter
constexpr Tick kQuiet = 10'000'000;        // ten microseconds, longer than anything in caches and memory takes

} // namespace

CacheWarmer::CacheWarmer(const Params &p)
    : SimObject(p), system_(*p.system), history_(p.history), sockets_(p.sockets), lines_(p.lines),
      requestor_(p.system->getRequestorId(this)), next_event_([this] { next(); }, name() + ".next")
{
    for (unsigned i = 0; i < p.port_cores_connection_count; i++) {
        cores_.push_back(std::make_unique<Core>(*this, csprintf("%s.core%d", name(), i)));
    }
}

Port &CacheWarmer::getPort(const std::string &name, PortID index)
{
    return name == "cores" ? *cores_[index] : SimObject::getPort(name, index);
}

void CacheWarmer::settle()
{
    alone();
}

uint64_t CacheWarmer::replay()
{
    fatal_if(history_ == nullptr, "%s has no history to replay.", name());
    accesses_ = history_->shown(sockets_, lines_);
    done_ = 0;
    schedule(next_event_, curTick());
    alone();
    panic_if(done_ != accesses_.size(), "Of %d accesses that warm caches %d were served.", accesses_.size(), done_);
    accesses_.clear();
    return done_;
}

// All other events happen as much later as this takes, and the cores' clocks are set back by it.
void CacheWarmer::alone()
{
    std::vector<std::pair<Event *, Tick>> memory, others;
    while (!eventq->empty()) {
        Event *const event = eventq->getHead();
        panic_if(event->isAutoDelete(), "%s cannot be put off.", event->name());
        (ofMemory(*event) ? memory : others).emplace_back(event, event->when());
        eventq->deschedule(event);
    }
    std::vector<RegVal> clocks;
    for (ThreadContext *thread : system_.threads) {
        clocks.push_back(thread->readMiscReg(X86ISA::misc_reg::Tsc));
    }
    // Of events at one time the queue takes the one first that came last.
    for (auto one = memory.rbegin(); one != memory.rend(); ++one) {
        schedule(one->first, one->second);
    }
    const Tick began = curTick();
    while (!eventq->empty() && eventq->getHead()->when() < curTick() + kQuiet) {
        eventq->serviceOne();
    }
    const Tick period = params().clock_period, took = (curTick() - began + period - 1) / period * period;
    eventq->setCurTick(began + took);
    stood_still_ += took;
    for (size_t i = 0; i < clocks.size(); i++) {
        system_.threads[i]->setMiscReg(X86ISA::misc_reg::Tsc, clocks[i]);
    }
    for (auto one = others.rbegin(); one != others.rend(); ++one) {
        const auto [event, when] = *one;
        if (!event->scheduled()) { // as a sequencer's check for a deadlock may be again
            schedule(event, when > MaxTick - took ? when : when + took);
        }
    }
}

bool CacheWarmer::ofMemory(const Event &event) const
{
    const std::string name = event.name();
    const auto begins = [&name](const std::string &with) { return name.compare(0, with.size(), with) == 0; };
    return begins("Consumer Event") || begins(system_.name() + ".ruby") || begins(system_.name() + ".mem_ctrls") ||
           &event == &next_event_;
}

void CacheWarmer::next()
{
    if (done_ == accesses_.size()) {
        return;
    }
    const AccessHistory::Access &access = accesses_[done_];
    const Request::Flags flags = access.kind == AccessHistory::Kind::fetch ? Request::INST_FETCH : Request::Flags(0);
    auto request = std::make_shared<Request>(access.line, kBytes, flags, requestor_, kNoProgram, access.core);
    request->setPaddr(access.line);
    const bool write = access.kind == AccessHistory::Kind::write;
    auto *packet = new Packet(request, write ? MemCmd::WriteReq : MemCmd::ReadReq);
    packet->allocate();
    if (write) { // what is there already
        Packet read(request, MemCmd::ReadReq);
        read.dataStatic(packet->getPtr<uint8_t>());
        system_.getPhysMem().functionalAccess(&read);
    }
    if (!cores_[access.core]->sendTimingReq(packet)) {
        delete packet; // it is asked again
    }
}

bool CacheWarmer::Core::recvTimingResp(PacketPtr packet)
{
    delete packet;
    warmer_.done_++;
    warmer_.schedule(warmer_.next_event_, curTick());
    return true;
}

} // namespace gem5::ruby
