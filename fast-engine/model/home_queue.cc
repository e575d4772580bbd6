// SPDX-License-Identifier: GPL-2.0-or-later
#include "fast-engine/model/home_queue.h"

#include "fast-engine/model/invariant.h"

namespace mosbench {

HomeQueue::HomeQueue(const Machine &machine, const HomeMap &homes, const Interconnect &interconnect)
    : homes_(homes), interconnect_(interconnect), perturbation_(machine.trial), l1_cycles_(machine.l1_cycles),
      l2_cycles_(machine.l2_cycles), read_busy_cycles_(machine.read_busy_cycles), transfer_cycles_(machine.transfer_cycles),
      quantum_(machine.quantum()), cores_per_socket_(machine.cores_per_socket), filtered_(machine.filtered())
{
}

Turn HomeQueue::take_turn(const model_access &access, Entry &entry, bool write)
{
    const uint64_t now = access.now, free = entry.busy_until();
    LineQueues::Place &place = queues_.place(access.core);
    Queue *queue = entry.queued() ? queues_.find(access.line) : nullptr;
    if (place.line == access.line && place.valid(now)) {
        return come_back(access, place, queue, free);
    }
    const bool others_wait = queue && queues_.somebody_waits(*queue, now);
    const uint64_t way_there = way(access), asked = now + way_there;
    const uint64_t start = std::max({free, queue ? queue->end : 0, asked});
    // Whoever holds a line that several cores use goes on with it until he loses it, or the right to write it.
    const bool holders_go_on = entry.exchanged() && (write || entry.writable());
    const bool at_once = start == asked && !others_wait && !holders_go_on;
    if (at_once || !access.may_defer || place.valid(now)) {
        return {.start = start - way_there,
                .kind = queue && (others_wait || queue->end > asked) ? Turn::Kind::behind : Turn::Kind::free};
    }
    return join(access, entry, write, queue, start);
}

// Strictly in order: a nearer core with a shorter way must not overtake, or the nearest would starve all others.
Turn HomeQueue::come_back(const model_access &access, LineQueues::Place &place, Queue *queue, uint64_t free)
{
    const uint64_t now = access.now;
    const bool others_first = queues_.ahead(place, now) != nullptr;
    const uint64_t start = queues_.start(queue, place, free, now);
    const uint64_t turn = others_first ? std::max(start + place.reach, now + quantum_) : start + place.reach;
    if (access.may_defer && turn > now) {
        place.start = start;
        place.turn = turn;
        place.waited += turn - now;
        return {.start = turn, .kind = Turn::Kind::later};
    }
    queues_.leave(queue, place);
    return {.start = std::max(start, now - place.reach) - way(access), .waited = place.waited};
}

// The core gets a place at the end; the home will begin with it at `start`.
Turn HomeQueue::join(const model_access &access, Entry &entry, bool write, Queue *queue, uint64_t start)
{
    const uint64_t now = access.now;
    const bool others_wait = queue && queues_.somebody_waits(*queue, now);
    if (!queue) {
        queues_.drop_finished(now);
        queue = &queues_.add({.line = access.line, .end = start});
        entry.set_queued();
    }
    if (!others_wait) { // since the last one was served, somebody who did not wait may have written
        queue->owner = entry.owner() == Entry::kNobody ? Queue::kNoOwner
                       : entry.owned_by_core()         ? socket_of(entry.owner_core())
                                                       : entry.owner_l3();
        queue->shared = !entry.writable();
    }
    // What a copy among several says cannot change before the home begins with the next request.
    const bool pipelined = queue->shared && !write;
    const Source source = foresee_source(access, entry, *queue, write);
    const uint64_t reach = pipelined ? 0 : this->reach(homes_.home(access.line), *queue);
    const uint64_t cycles = foresee(access, *queue, write);
    const uint64_t busy = pipelined ? busy_with_read(cycles) : busy_with(cycles);
    LineQueues::Place &place = queues_.join(*queue, access.core,
                                            {.line = access.line,
                                             .asked = access.now + way(access),
                                             .start = start,
                                             .reach = reach,
                                             .busy = busy,
                                             .awaited = source});
    if (others_wait) { // what was foreseen for them may have become later since
        place.start = queues_.start(queue, place, entry.busy_until(), now);
    }
    // Somebody before may be late himself.
    place.turn = others_wait ? std::max(place.start + reach, now + quantum_) : place.start + reach;
    place.waited = place.turn - now;
    queue->end = place.start + busy;
    return {.start = place.turn, .kind = Turn::Kind::joined};
}

// Where a request will find the line when those before it are done. Who has a copy still then needs only the right to write.
Source HomeQueue::foresee_source(const model_access &access, const Entry &entry, const Queue &queue, bool write) const
{
    const uint32_t socket = socket_of(access.core);
    if (write && queue.shared && entry.in_core(access.core)) {
        return Source::held;
    }
    if (queue.owner == Queue::kNoOwner) {
        return homes_.home(access.line) == socket ? Source::dram_local : Source::dram_remote;
    }
    return queue.owner == socket ? Source::core_same_socket : Source::core_other_socket;
}

// The cycles a request will take when those before it are done, on idle links.
uint64_t HomeQueue::foresee(const model_access &access, Queue &queue, bool write) const
{
    const uint32_t socket = socket_of(access.core);
    const uint64_t cycles = idle_cycles(socket, homes_.home(access.line), queue, write);
    if (write) {
        queue.owner = socket;
    }
    queue.shared = !write;
    return cycles;
}

uint64_t HomeQueue::idle_cycles(uint32_t socket, uint32_t home, const Queue &queue, bool write) const
{
    const uint64_t everybody = interconnect_.broadcast_cycles(socket, home);
    if (!filtered_) {
        return std::max(interconnect_.memory_cycles(socket, home), everybody);
    }
    const uint64_t cycles = queue.owner == Queue::kNoOwner ? interconnect_.memory_cycles(socket, home)
                                                           : interconnect_.transfer_cycles(socket, home, queue.owner);
    return write && queue.shared ? std::max(cycles, everybody) : cycles;
}

// From when the home begins until its probe is where the owner loses the line: half of a transfer in one socket, and its way.
uint64_t HomeQueue::reach(uint32_t home, const Queue &queue) const
{
    return transfer_cycles_ / 2 + (queue.owner == Queue::kNoOwner ? 0 : interconnect_.way_cycles(home, queue.owner));
}

uint64_t HomeQueue::finish(const Request &request, const Turn &turn, Entry &entry, uint64_t cycles, bool pipelined)
{
    const Moment &moment = request.moment;
    cycles += perturbation_.cycles(moment.transaction);
    // Who waited for his turn may find the line nearer than was foreseen, but comes not before he asked.
    const uint64_t end = std::max(moment.start + cycles, moment.now + l1_cycles_);
    const uint64_t begun = moment.start + way(request.socket, request.home);
    const uint64_t free =
        pipelined ? begun + busy_with_read(cycles) : end + interconnect_.way_cycles(request.socket, request.home);
    if (turn.kind == Turn::Kind::behind) { // those in the queue go first
        Queue *queue = queues_.find(request.line);
        invariant(queue != nullptr, "who comes behind a queue finds it", request.line);
        queue->end = free;
    } else {
        entry.set_busy_until(free);
    }
    return end - moment.now;
}

} // namespace mosbench
