// SPDX-License-Identifier: BSD-3-Clause
#include "mosbench/line_tap.hh"

#include <algorithm>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "native/records/records_file.h"

namespace gem5::ruby {

using mosbench::AccessKind;
using mosbench::Source;

namespace {

constexpr unsigned kLineShift = 6;

} // namespace

LineTap::LineTap(const Params &p)
    : ClockedObject(p), machine_(p.machine), sockets_(p.sockets), cores_per_socket_(p.cores_per_socket), cpus_(p.cpus),
      core_numbers_(p.core_numbers), idle_sockets_(p.idle_sockets), devices_(p.devices), home_ranges_(p.home_ranges),
      home_nodes_(p.home_nodes), completion_offset_(p.completion_offset), l2_cycles_(p.l2_cycles),
      sample_period_(p.sample_period), chain_period_(p.chain_period), kernel_(p.kernel), shared_caches_(p.shared_caches),
      cores_(p.cpus.size()), link_messages_(MessageSizeType_NUM), sample_event_([this] { sample(); }, name() + ".sample")
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
    protocol_ = Protocol::make(*this);
}

void LineTap::addCore(unsigned core, std::array<CacheMemory *, 3> caches, bool works_ahead)
{
    fatal_if(core >= cores_.size(), "The line tap has no core %d.", core);
    cores_[core].caches = caches;
    cores_[core].accesses.resize(works_ahead ? kAccessesAhead : kAccesses);
    cores_[core].behind.resize(works_ahead ? kAccessesAhead : 0);
}

void LineTap::startup()
{
    ClockedObject::startup();
    for (size_t core = 0; core < cores_.size(); core++) {
        fatal_if(cores_[core].caches[0] == nullptr, "Core %d has no sequencer that tells the line tap of its accesses.", core);
    }
    if (chain_period_ == 0) {
        return;
    }
    try {
        stacks_ = mosbench::CallStacks::of_kernel(kernel_);
    } catch (const std::runtime_error &error) {
        fatal("The line tap cannot find out who called: %s.", error.what());
    }
    for (size_t core = 0; core < cores_.size(); core++) {
        std::vector<const CacheMemory *> caches(cores_[core].caches.begin(), cores_[core].caches.end());
        for (size_t other = 0; other < cores_.size(); other++) {
            if (other != core) {
                caches.insert(caches.end(), cores_[other].caches.begin(), cores_[other].caches.end());
            }
        }
        caches.insert(caches.end(), shared_caches_.begin(), shared_caches_.end());
        memories_.emplace_back(*cpus_[core]->getContext(0), *cpus_[core]->system, std::move(caches));
    }
    records_->follow_calls(chain_period_);
}

void LineTap::begin()
{
    records_->clear();
    link_messages_.assign(link_messages_.size(), 0);
    protocol_->begin();
    for (Core &core : cores_) {
        core.accesses.assign(core.accesses.size(), {});
        core.behind.assign(core.behind.size(), {});
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
    length_ = curCycle() - began_;
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
    mosbench::FileHeader header{"gem5", machine_, sample_period_, length_, {}};
    header.unknown = protocol_->unknown();
    // What a processor's instructions, L1 hits and accesses to a device's registers take, gem5 does not tell.
    for (const char *column : {"cores.instruction_cycles", "cores.l1_cycles", "cores.pause_cycles", "cores.card_cycles"}) {
        header.unknown.emplace(column);
    }
    return mosbench::write_records(path, header, *records_, [](uint32_t line) { return uint64_t{line} << kLineShift; });
}

std::vector<uint64_t> LineTap::totals() const
{
    std::vector<uint64_t> all(mosbench::kSourcesBeyondL2 + 4 + mosbench::kMessageKinds);
    for (uint32_t core = 0; core < records_->core_count(); core++) {
        const mosbench::CoreRow &row = records_->core(core);
        auto at = std::transform(row.from.begin(), row.from.end(), all.begin(), all.begin(), std::plus<>());
        *at++ += row.upgrades;
        *at++ += row.invalidations;
        *at++ += row.writebacks;
        *at += std::accumulate(row.waits.begin(), row.waits.end(), uint64_t{0});
    }
    for (size_t kind = 0; kind < mosbench::kMessageKinds; kind++) {
        for (uint32_t home = 0; home < sockets_; home++) {
            for (uint32_t requester = 0; requester < sockets_; requester++) {
                all[all.size() - mosbench::kMessageKinds + kind] += records_->traffic(home, requester, kind).messages;
            }
        }
    }
    return all;
}

// A core runs when its thread is active; one sample each period, all cores at the same time.
void LineTap::sample()
{
    for (size_t core = 0; core < cpus_.size(); core++) {
        ThreadContext *thread = cpus_[core]->getContext(0);
        if (thread->status() == ThreadContext::Active) {
            const Addr pc = thread->pcState().instAddr();
            records_->sample(static_cast<uint16_t>(core_numbers_[core]), pc, pc >> 63, 1);
            if (stacks_ && records_->chains().next_sample()) {
                records_->chains().sample(pc, pc >> 63, caller(core, stackOf(core, pc)), 1);
            }
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
    const Access asked = described(core, packet);
    Core &state = cores_[core];
    Access *access = nullptr;
    for (Access &known : state.accesses) {
        if (known.line == asked.line && !known.outside) {
            access = &known;
        }
    }
    for (Access &store : state.behind) {
        if (store.line == asked.line) {
            store = Access{}; // no request for the line is under way: it was served
        }
    }
    if (access == nullptr) {
        access = unused(state);
    }
    if (access == nullptr) {
        return; // more misses under way than a sequencer has
    }
    book(*access);
    *access = asked;
    const Addr line = access->line << kLineShift;
    const bool in_l1 = state.caches[instruction ? 1 : 0]->isTagPresent(line);
    access->held = holds(core, line);
    access->in_l2 = !in_l1 && state.caches[2]->isTagPresent(line);
}

void LineTap::behind(unsigned core, const PacketPtr packet)
{
    Core &state = cores_[core];
    if (!state.behind.empty()) {
        state.behind[state.next_behind++ % state.behind.size()] = described(core, packet);
    }
}

void LineTap::streamed(unsigned core, const PacketPtr packet, Cycles waited)
{
    const bool local = home(packet->getAddr()) == socketOf(core);
    records_->streamed(described(core, packet).who, local ? Source::dram_local : Source::dram_remote, waited);
}

LineTap::Access LineTap::described(unsigned core, const PacketPtr packet) const
{
    const Addr address = packet->getAddr(), line = address >> kLineShift << kLineShift;
    const auto &request = packet->req;
    const bool has_pc = request->hasPC();
    const Addr pc = has_pc ? request->getPC() : cpus_[core]->getContext(0)->pcState().instAddr();
    const bool read = !packet->isWrite() && !request->isLockedRMW() && !request->isReadModifyWrite();
    Access access;
    access.core = core;
    access.line = line >> kLineShift;
    access.who = {pc,
                  request->hasVaddr() ? request->getVaddr() : 0,
                  static_cast<uint32_t>(line >> kLineShift),
                  static_cast<uint16_t>(core_numbers_[core]),
                  read                     ? AccessKind::read
                  : request->isLockedRMW() ? AccessKind::atomic
                                           : AccessKind::write,
                  pc >> 63 != 0,
                  has_pc && request->hasVaddr(),
                  static_cast<uint8_t>(std::min<Addr>(packet->getSize(), line + (Addr{1} << kLineShift) - address))};
    access.stack = stackOf(core, pc);
    access.issued = curCycle();
    return access;
}

LineTap::Access *LineTap::unused(Core &core)
{
    for (size_t i = 0; i < core.accesses.size(); i++) {
        Access &candidate = core.accesses[core.next++ % core.accesses.size()];
        if (!candidate.outside) {
            return &candidate;
        }
    }
    return nullptr;
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

bool LineTap::leaves(unsigned core, uint64_t line, bool exclusive)
{
    bool held = false, known = false;
    for (Access &access : cores_[core].accesses) {
        if (access.line == line && !access.outside) {
            known = true;
            access.outside = true;
            access.exclusive = exclusive;
            held = held || access.held;
        }
    }
    return known || !exclusive ? held : storeLeaves(core, line);
}

// The request is of the first store that waited for another request for the line; those behind it wait on.
bool LineTap::storeLeaves(unsigned core, uint64_t line)
{
    Core &state = cores_[core];
    Access first;
    for (Access &store : state.behind) {
        if (store.line == line) {
            first = first.line != line || store.issued < first.issued ? store : first;
            store = Access{};
        }
    }
    Access *access = first.line == line ? unused(state) : nullptr;
    if (access == nullptr) {
        return false;
    }
    book(*access);
    *access = first;
    access->outside = access->exclusive = true;
    access->held = holds(core, line << kLineShift);
    return access->held;
}

void LineTap::finish(Access &access, bool upgrade)
{
    const int64_t took = static_cast<int64_t>(curCycle() - access.issued) - completion_offset_;
    const auto waited = static_cast<uint64_t>(std::max<int64_t>(took, 0));
    if (records_->event(access.who, access.source, upgrade, waited)) {
        records_->chains().transfer(access.who.line, access.who.pc, caller(access.core, access.stack), waited);
    }
    for (Access &store : cores_[access.core].behind) {
        if (store.line == access.line) {
            store.issued = Cycles(curCycle() - completion_offset_); // it goes on when its core has the line
        }
    }
    access = Access{};
}

mosbench::CallStacks::Start LineTap::stackOf(unsigned core, Addr pc) const
{
    if (!stacks_) {
        return {};
    }
    const ThreadContext &thread = *cpus_[core]->getContext(0);
    return {pc, thread.getReg(X86ISA::int_reg::Rsp), thread.getReg(X86ISA::int_reg::Rbp)};
}

uint32_t LineTap::caller(unsigned core, const mosbench::CallStacks::Start &stack)
{
    const CoreMemory &memory = memories_[core];
    const auto read = [&memory](uint64_t address, uint64_t &value) { return memory.read(address, value); };
    const std::vector<uint64_t> &callers = stacks_->callers(stack, read);
    return records_->chains().caller(callers.data(), callers.size());
}

void LineTap::copyLost(unsigned core, Addr address)
{
    records_->copy_lost(static_cast<uint32_t>(address >> kLineShift), core_numbers_[core]);
    if (Access *access = outside(core, address >> kLineShift, Which::last)) {
        access->held = false; // it waits for the right to write a copy that is gone now
    }
}

void LineTap::message(const Message &message, int vnet, unsigned socket, size_t links)
{
    link_messages_[message.getMessageSize()] += links;
    protocol_->message(message, vnet, socket);
}

} // namespace gem5::ruby
