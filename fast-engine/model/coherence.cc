// SPDX-License-Identifier: GPL-2.0-or-later
#include "fast-engine/model/coherence.h"

#include <algorithm>
#include <bit>

namespace mosbench {

namespace {

constexpr uint32_t kNoCore = UINT32_MAX;
constexpr uint32_t kDeviceSocket = 0; // the one with the way to the devices
// A line that was quiet for so many cycles is its holder's own again. Long against what a core runs ahead on lines of its own, so
// that what it wrongly does there is a small share.
constexpr uint64_t kQuiet = 65'536;

size_t all_tags(const Machine &machine)
{
    const size_t core = TagMemory::tags_of(machine.l1d) + TagMemory::tags_of(machine.l1i) + TagMemory::tags_of(machine.l2);
    const size_t socket = TagMemory::tags_of(machine.l3) + TagMemory::tags_of(machine.probe_filter);
    return core * machine.cores() + socket * machine.sockets;
}

// The most cycles that a request of a trial other than the first takes longer: so few that it is the same machine.
constexpr uint64_t kMostPerturbation = 4;

// How many expectations come between two steps of one, if there are so many. Powers of two: one that changed all the time would
// leave steps out.
uint32_t spacing_of(uint32_t expectations)
{
    return std::bit_floor(std::clamp(expectations, 1u, 8u));
}

Toucher toucher(const model_access &access)
{
    return {.pc = access.pc,
            .address = access.address,
            .line = access.line,
            .core = access.core,
            .kind = access.kind == MODEL_WRITE || access.kind == MODEL_STREAM ? AccessKind::write
                    : access.kind == MODEL_ATOMIC                             ? AccessKind::atomic
                                                                              : AccessKind::read,
            .kernel = access.kernel != 0,
            .address_known = access.kind != MODEL_WALK};
}

} // namespace

Coherence::Coherence(const Machine &machine, uint64_t lines, const std::vector<model_filter *> &filters, model_line_lost *lost)
    : machine_(machine), homes_(machine), directory_(lines), tags_(all_tags(machine)), interconnect_(machine),
      dram_(machine.sockets), dram_service_(Server::service(64, machine.dram_gbytes_per_second, machine.clock_ghz)),
      records_(lines, machine.sockets, machine.cores(), machine.count_hits), lost_(lost)
{
    for (uint32_t core = 0; core < machine.cores(); core++) {
        socket_of_.push_back(static_cast<uint8_t>(machine.socket_of(core)));
        cores_.emplace_back(machine, tags_);
    }
    for (uint32_t socket = 0; socket < machine.sockets; socket++) {
        l3_.emplace_back(machine.l3, tags_);
        probe_filter_.emplace_back(machine.probe_filter, tags_);
    }
    for (size_t core = 0; core < filters.size(); core++) {
        cores_[core].attach(filters[core]);
    }
    clear();
}

void Coherence::clear()
{
    directory_.clear();
    for (PrivateCaches &core : cores_) {
        core.clear();
    }
    for (VictimArray &l3 : l3_) {
        l3.clear();
    }
    for (ProbeFilter &filter : probe_filter_) {
        filter.clear();
    }
    queues_.clear();
    combining_.fill({});
    interconnect_.clear();
    for (Server &dram : dram_) {
        dram.clear();
    }
}

uint64_t Coherence::access(const model_access &access)
{
    now_ = access.now;
    const uint32_t line = access.line;
    const uint32_t core = access.core;
    const uint32_t socket = socket_of_[core];
    const bool write = access.kind == MODEL_WRITE || access.kind == MODEL_ATOMIC;
    const bool fetch = access.kind == MODEL_FETCH;
    PrivateCaches &caches = cores_[core];
    Entry &entry = directory_[line];
    if (access.kind == MODEL_STREAM) {
        return stream(access, entry);
    }
    if (entry.exchanged() && access.now > entry.busy_until() + kQuiet) {
        entry.set_exchanged(false);
    }
    Turn turn{};
    if (const bool local = entry.in_core(core) || entry.in_l3(socket); !local || (write && !entry.writable())) {
        if (access.early) {
            return MODEL_DEFERRED;
        }
        turn = take_turn(access, entry, write);
        if (turn.later) {
            return MODEL_DEFERRED | (turn.start - access.now);
        }
    }
    Answer answer;
    bool upgraded = false, first_write = false;

    if (caches.touch_l1(line, fetch)) {
        answer = {machine_.l1_cycles, Source::held};
    } else if (entry.in_core(core)) {
        answer = {machine_.l2_cycles, Source::l2};
        fill(core, line, fetch, true, begin_transaction(access.now, access.now));
    } else if (entry.in_l3(socket)) {
        answer = {machine_.l3_cycles, Source::l3};
        take_from_l3(core, line, entry);
        fill(core, line, fetch, false, begin_transaction(access.now, access.now));
    } else {
        const Request request = begin_request(access, turn);
        foresee_miss(access);
        answer = write ? write_miss(request, entry) : read_miss(request, entry, fetch);
        answer.cycles = finish_request(request, entry, answer.cycles, answer.pipelined);
        fill(core, line, fetch, false, request.moment);
    }
    if (write) {
        caches.drop_instruction_copy(line);
        if (entry.state() == State::exclusive) {
            entry.set_state(State::modified);
            first_write = true;
        } else if (entry.state() != State::modified) {
            const Request request = begin_request(access, turn);
            answer.cycles = finish_request(request, entry, upgrade(request, entry), false);
            upgraded = true;
        }
    }
    caches.show(line, fetch, entry.state() == State::modified, entry.exchanged());

    const uint64_t waited = answer.cycles - machine_.l1_cycles;
    if (counting_) {
        const Toucher who = toucher(access);
        const bool event = answer.source != Source::held || upgraded;
        if (machine_.count_hits) {
            records_.counted_access(who, event && (answer.source != Source::l2 || upgraded));
        }
        if (event) {
            records_.event(who, answer.source, upgraded, waited + turn.waited);
        } else if (first_write) {
            records_.first_write(who);
        }
    }
    return waited;
}

// The stores to a line are collected in a buffer, which goes to memory as one burst; all copies go, also of a line that was
// dirty, since the buffer is as a rule full. Who fills buffers faster than memory takes them waits.
uint64_t Coherence::stream(const model_access &access, Entry &entry)
{
    Combining &buffers = combining_[access.core];
    if (buffers.line == access.line && !entry.cached()) {
        return 0;
    }
    if (access.early) {
        return MODEL_DEFERRED;
    }
    const Request request = begin_request(access, {.start = access.now});
    if (entry.cached()) {
        const uint32_t probes = entry.writable() ? 1 : machine_.sockets;
        message(request, Message::back_invalidation, kCommandBytes, probes);
        invalidate_all(access.line, entry);
    }
    probe_filter_[request.home].forget(homes_.local(access.line));
    const uint64_t queued = (dram_[request.home].book(request.moment, dram_service_) >> 10) +
                            interconnect_.send_data(request.socket, request.home, request.moment);
    uint64_t &free = buffers.free[buffers.next++ % kCombiningBuffers];
    const uint64_t waited = free > access.now ? free - access.now : 0;
    // The queues go on while the core waits; the burst need not come back.
    free = access.now + std::max(waited, queued) + interconnect_.memory_cycles(request.socket, request.home) / 2;
    buffers.line = access.line;
    if (counting_) {
        records_.message(request.home, request.socket, Message::writeback, kDataBytes);
        records_.streamed(toucher(access), waited);
    }
    return waited;
}

// Most of the host's time for a miss goes into its own cache misses.
void Coherence::foresee_miss(const model_access &access)
{
    const uint32_t line = access.line, core = access.core;
    const bool fetch = access.kind == MODEL_FETCH;
    const bool stream = line == last_miss_[core] + 1 && line + kSteps < directory_.size();
    last_miss_[core] = line;
    if (expected_line_[core] == line) {
        // Its steps were to be taken in the time that others' expectations gave it.
        step_spacing_ = spacing_of((expectations_ - expected_at_[core]) / kSteps);
        return;
    }
    if (stream) { // a core that goes through memory will want its next lines
        step_spacing_ = spacing_of(expectations_ - expected_at_[core]);
        begin_steps(core, line + kSteps, fetch);
        return;
    }
    Expected now = {.core = core, .line = line, .falling = kNoLine, .fetch = fetch, .steps = 0};
    take_step(now);
    take_step(now);
}

void Coherence::expect(uint32_t core, uint32_t line, bool fetch)
{
    if (std::exchange(recent_[line % kMostExpected], line) != line) { // else the host's cache has it all
        begin_steps(core, line, fetch);
    }
    expected_line_[core] = line;
}

void Coherence::begin_steps(uint32_t core, uint32_t line, bool fetch)
{
    expected_at_[core] = expectations_;
    Expected &first = expected_[expectations_ % kMostExpected];
    first = {.core = core, .line = line, .falling = kNoLine, .fetch = fetch, .steps = 0};
    take_step(first);
    for (uint32_t step = 1; step < kSteps; step++) {
        Expected &earlier = expected_[(expectations_ - step * step_spacing_) % kMostExpected];
        if (earlier.steps <= step) {
            take_step(earlier);
        }
    }
    expectations_++;
}

void Coherence::take_step(Expected &expected)
{
    const PrivateCaches &caches = cores_[expected.core];
    VictimArray &l3 = l3_[socket_of_[expected.core]];
    uint32_t &falling = expected.falling;
    switch (expected.steps++) {
    case 0:
        prefetch_far(&directory_[expected.line]);
        caches.prefetch_l1(expected.line);
        if (counting_) {
            records_.prefetch_line(expected.line);
        }
        return;
    case 1:
        if (const Entry &entry = directory_[expected.line];
            entry.in_core(expected.core) || entry.in_l3(socket_of_[expected.core])) {
            expected.steps = kSteps;
            return;
        }
        probe_filter_[homes_.home(expected.line)].prefetch(homes_.local(expected.line));
        falling = caches.next_victim_of_l1(expected.line, expected.fetch);
        if (falling != kNoLine) {
            caches.prefetch_l2_victim(falling);
        }
        if (counting_) {
            records_.prefetch_row(expected.line);
        }
        return;
    case 2:
        falling = falling == kNoLine ? kNoLine : caches.next_victim_of_l2(falling);
        if (falling != kNoLine) {
            prefetch_far(&directory_[falling]);
            l3.prefetch_oldest(falling);
        }
        if (counting_) {
            records_.prefetch_site(expected.line);
        }
        return;
    case 3:
        falling = falling == kNoLine ? kNoLine : l3.next_victim(falling);
        if (falling != kNoLine) {
            prefetch_far(&directory_[falling]);
            probe_filter_[homes_.home(falling)].prefetch(homes_.local(falling));
        }
        return;
    default:
        if (counting_ && falling != kNoLine && directory_[falling].dirty()) {
            records_.prefetch_line(falling);
        }
        return;
    }
}

// A line serves one request after the other. Who would wait is sent away, if he can come back, and not from a second line before
// he was served by the first. He performs his access when the home's probe reaches the holder, half-way through the transaction:
// until then the holder goes on with the line, as in hardware. (Without that time a load and the compare-and-swap after it would
// hardly ever see the same value under contention, and lock-free updates would nearly always fail.)
Coherence::Turn Coherence::take_turn(const model_access &access, Entry &entry, bool write)
{
    const uint64_t now = access.now;
    const uint64_t free = entry.busy_until();
    LineQueues::Place &place = queues_.place(access.core);
    Queue *queue = entry.queued() ? queues_.find(access.line) : nullptr;
    if (place.line == access.line && place.valid(now)) {
        // Strictly in order: a nearer core with a shorter way must not overtake, or the nearest would starve all others.
        const bool others_first = queues_.ahead(place, now) != nullptr;
        const uint64_t start = queues_.start(queue, place, free, now);
        const uint64_t turn = others_first ? std::max(start + place.reach, now + machine_.quantum()) : start + place.reach;
        if (access.may_defer && turn > now) {
            place.start = start;
            place.turn = turn;
            place.waited += turn - now;
            return {.start = turn, .later = true};
        }
        queues_.leave(queue, place);
        return {.start = std::max(start, now - place.reach), .waited = place.waited};
    }
    const bool others_wait = queue && queues_.somebody_waits(*queue, now);
    const uint64_t start = std::max({free, queue ? queue->end : 0, now});
    if ((start == now && !others_wait) || !access.may_defer || place.valid(now)) {
        return {.start = start, .behind = queue && (others_wait || queue->end > now)};
    }
    if (!queue) {
        queues_.drop_finished(now);
        const uint32_t owner = entry.owner() == Entry::kNobody ? Queue::kNoOwner : owner_socket(entry);
        queue = &queues_.add({.line = access.line, .end = start, .owner = owner, .shared = !entry.writable()});
        entry.set_queued();
    }
    if (entry.owned_by_core() && (write || entry.dirty())) {
        exchange(access.line, entry);
    }
    // What a copy among several says cannot change before the home begins with the next request.
    const bool pipelined = queue->shared && !write;
    const uint64_t cycles = foresee(access, *queue, write);
    const uint64_t reach = pipelined ? 0 : cycles / 2;
    const uint64_t busy = pipelined ? busy_with_read(cycles) : cycles;
    LineQueues::Place &joined =
        queues_.join(*queue, access.core, {.line = access.line, .start = start, .reach = reach, .busy = busy});
    if (others_wait) {
        joined.start = queues_.start(queue, joined, free, now); // what was foreseen for those before may have become later since
    }
    // Somebody before may be late himself.
    joined.turn = others_wait ? std::max(joined.start + reach, now + machine_.quantum()) : joined.start + reach;
    joined.waited = joined.turn - now;
    queue->end = joined.start + busy;
    return {.start = joined.turn, .later = true};
}

// The cycles a request will take when those before it are done, on idle links.
uint64_t Coherence::foresee(const model_access &access, Queue &queue, bool write) const
{
    const uint32_t socket = socket_of_[access.core];
    const uint32_t home = homes_.home(access.line);
    uint64_t cycles = queue.owner == Queue::kNoOwner ? interconnect_.memory_cycles(socket, home)
                                                     : interconnect_.transfer_cycles(socket, home, queue.owner);
    if (write) {
        cycles = queue.shared ? std::max(cycles, interconnect_.broadcast_cycles(socket, home)) : cycles;
        queue.owner = socket;
    }
    queue.shared = !write;
    return cycles;
}

Coherence::Request Coherence::begin_request(const model_access &access, const Turn &turn)
{
    return {.moment = begin_transaction(access.now, turn.start),
            .behind = turn.behind,
            .line = access.line,
            .core = access.core,
            .socket = socket_of_[access.core],
            .home = homes_.home(access.line)};
}

// One run of a contended program tells who happened to meet whom. So other trials take a few cycles more for each request, as
// many as trial and number of the request say: a way of Alameldeen and Wood's ("Variability in architectural simulations of
// multi-threaded workloads", HPCA 2003), who add up to 4 ns to each miss.
uint64_t Coherence::perturbation(uint64_t transaction) const
{
    if (machine_.trial == 1) {
        return 0;
    }
    uint64_t mixed = transaction + machine_.trial * 0x9E3779B97F4A7C15u; // splitmix64
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBu;
    return (mixed ^ mixed >> 31) % (kMostPerturbation + 1);
}

// The line is busy until the requester has what it asked for; after a read that is pipelined, sooner. Returns the cycles since
// `now`.
uint64_t Coherence::finish_request(const Request &request, Entry &entry, uint64_t cycles, bool pipelined)
{
    cycles += perturbation(request.moment.transaction);
    // Who waited for his turn may find the line nearer than was foreseen, but comes not before he asked.
    const uint64_t end = std::max(request.moment.start + cycles, request.moment.now + machine_.l1_cycles);
    const uint64_t free = pipelined ? request.moment.start + busy_with_read(cycles) : end;
    if (request.behind) {
        queues_.find(request.line)->end = free; // those in the queue go first
    } else {
        entry.set_busy_until(free);
    }
    return end - request.moment.now;
}

// Code is asked for as shared: nobody means to write it.
Coherence::Answer Coherence::read_miss(const Request &request, Entry &entry, bool fetch)
{
    const bool known = look_in_probe_filter(request);
    const uint64_t asked = ask_home(request, Message::read);
    const bool alone = entry.writable();
    Answer answer;
    if (entry.owner() != Entry::kNobody) {
        answer = from_owner(request, entry);
        if (entry.owned_by_core()) {
            cores_[entry.owner_core()].hide_stores(request.line);
        }
        if (entry.dirty()) {
            if (entry.owned_by_core()) {
                exchange(request.line, entry);
            }
            entry.set_state(State::owned);
        } else {
            entry.set_state(State::shared);
            entry.set_owner(Entry::kNobody);
        }
    } else {
        answer = from_memory(request);
        if (known || fetch) {
            entry.set_state(State::shared);
        } else {
            entry.set_state(State::exclusive);
            entry.set_owner(Entry::core_as_owner(request.core));
        }
    }
    entry.add_core(request.core);
    answer.cycles += asked;
    answer.pipelined = !alone && !entry.writable();
    return answer;
}

Coherence::Answer Coherence::write_miss(const Request &request, Entry &entry)
{
    const bool known = look_in_probe_filter(request);
    const uint64_t asked = ask_home(request, Message::read_exclusive);
    const bool alone = entry.writable();
    Answer answer = entry.owner() != Entry::kNobody ? from_owner(request, entry) : from_memory(request);
    if (known && !alone) {
        answer.cycles = std::max(answer.cycles, broadcast(request));
    }
    invalidate_others(request.line, entry, request.core);
    entry.add_core(request.core);
    entry.set_owner(Entry::core_as_owner(request.core));
    entry.set_state(State::modified);
    answer.cycles += asked;
    return answer;
}

// The requester has the bytes (in its L1) and needs all other copies gone.
uint64_t Coherence::upgrade(const Request &request, Entry &entry)
{
    look_in_probe_filter(request);
    const uint64_t asked = ask_home(request, Message::upgrade);
    const uint64_t cycles = broadcast(request);
    invalidate_others(request.line, entry, request.core);
    entry.set_owner(Entry::core_as_owner(request.core));
    entry.set_state(State::modified);
    return asked + cycles;
}

void Coherence::take_from_l3(uint32_t core, uint32_t line, Entry &entry)
{
    const uint32_t socket = socket_of_[core];
    if (entry.writable()) {
        l3_[socket].remove(line);
        entry.drop_l3(socket);
        entry.set_owner(Entry::core_as_owner(core));
    } else {
        l3_[socket].touch(line);
    }
    entry.add_core(core);
}

// Whether the home knew the line as cached; it does afterwards.
bool Coherence::look_in_probe_filter(const Request &request)
{
    const ProbeFilter::Look look = probe_filter_[request.home].look(homes_.local(request.line));
    if (look.victim != kNoLine) {
        back_invalidate(request, homes_.line(request.home, look.victim));
    }
    return look.known;
}

uint64_t Coherence::ask_home(const Request &request, Message kind)
{
    message(request, kind, kCommandBytes);
    return interconnect_.send_command(request.socket, request.home, request.moment);
}

Coherence::Answer Coherence::from_owner(const Request &request, const Entry &entry)
{
    const uint32_t owner = owner_socket(entry);
    message(request, Message::directed_probe, kCommandBytes);
    message(request, Message::data_from_core, kDataBytes);
    const uint64_t queued = interconnect_.send_command(request.home, owner, request.moment) +
                            interconnect_.send_data(owner, request.socket, request.moment);
    return {interconnect_.transfer_cycles(request.socket, request.home, owner) + queued,
            owner == request.socket ? Source::core_same_socket : Source::core_other_socket};
}

Coherence::Answer Coherence::from_memory(const Request &request)
{
    message(request, Message::data_from_memory, kDataBytes);
    const uint64_t queued = (dram_[request.home].book(request.moment, dram_service_) >> 10) +
                            interconnect_.send_data(request.home, request.socket, request.moment);
    return {interconnect_.memory_cycles(request.socket, request.home) + queued,
            request.home == request.socket ? Source::dram_local : Source::dram_remote};
}

uint64_t Coherence::broadcast(const Request &request)
{
    message(request, Message::broadcast_probe, 2 * kCommandBytes, machine_.sockets);
    return interconnect_.broadcast(request.socket, request.home, request.moment);
}

void Coherence::fill(uint32_t core, uint32_t line, bool fetch, bool from_l2, const Moment &moment)
{
    const uint32_t victim = cores_[core].fill(line, fetch, from_l2);
    if (victim != kNoLine) {
        core_victim(core, victim, moment);
    }
}

// What falls out of an L2 goes to the socket's L3, unless that has a (shared) copy.
void Coherence::core_victim(uint32_t core, uint32_t line, const Moment &moment)
{
    const uint32_t socket = socket_of_[core];
    Entry &entry = directory_[line];
    entry.drop_core(core);
    if (entry.owner() == Entry::core_as_owner(core)) {
        entry.set_owner(Entry::l3_as_owner(socket));
    }
    if (!entry.in_l3(socket)) {
        entry.add_l3(socket);
        const uint32_t victim = l3_[socket].insert(line);
        if (victim != kNoLine) {
            l3_victim(socket, victim, core, moment);
        }
    }
}

// Owners tell the home when they give a line up; sharers do not, and the probe filter keeps believing in them.
void Coherence::l3_victim(uint32_t socket, uint32_t line, uint32_t cause, const Moment &moment)
{
    Entry &entry = directory_[line];
    entry.drop_l3(socket);
    if (entry.owner() == Entry::l3_as_owner(socket)) {
        if (entry.dirty()) {
            write_back(socket, line, cause, moment);
        }
        entry.set_owner(Entry::kNobody);
        entry.set_state(State::shared);
        if (!entry.cached()) {
            probe_filter_[homes_.home(line)].forget(homes_.local(line));
        }
    }
    if (!entry.cached()) {
        entry.set_state(State::invalid);
    }
}

// The probe filter lost a line's entry, so the line may not be cached any more.
void Coherence::back_invalidate(const Request &cause, uint32_t line)
{
    Entry &entry = directory_[line];
    if (!entry.cached()) {
        return;
    }
    const uint32_t probes = entry.writable() ? 1 : machine_.sockets;
    message(cause, Message::back_invalidation, kCommandBytes, probes);
    if (entry.dirty()) {
        write_back(owner_socket(entry), line, cause.core, cause.moment);
    }
    invalidate_all(line, entry);
}

// One core reads what another has written, or writes what another has: from now on their hits are asked about, and so come in
// order with the other accesses.
void Coherence::exchange(uint32_t line, Entry &entry)
{
    if (entry.exchanged()) {
        return;
    }
    entry.set_exchanged(true);
    for (uint64_t rest = entry.cores; rest != 0; rest &= rest - 1) {
        cores_[static_cast<size_t>(std::countr_zero(rest))].hide(line);
    }
}

void Coherence::invalidate_others(uint32_t line, Entry &entry, uint32_t keep)
{
    const uint64_t kept = keep == kNoCore ? 0 : entry.cores & uint64_t{1} << keep;
    if (keep != kNoCore && entry.cores != kept) {
        entry.set_exchanged(true);
    }
    for (uint64_t rest = entry.cores & ~kept; rest != 0; rest &= rest - 1) {
        const uint32_t core = static_cast<uint32_t>(std::countr_zero(rest));
        cores_[core].remove(line);
        copy_lost(core, line);
    }
    for (uint64_t rest = entry.l3(); rest != 0; rest &= rest - 1) {
        l3_[static_cast<size_t>(std::countr_zero(rest))].remove(line);
    }
    entry.cores = kept;
    entry.set_l3(0);
}

void Coherence::copy_lost(uint32_t core, uint32_t line)
{
    if (counting_) {
        records_.copy_lost(line, core);
    }
    const auto &lines = watched_[core];
    if (watching_ >> core & 1 && std::find(lines.begin(), lines.end(), line) != lines.end()) {
        watching_ &= ~(uint64_t{1} << core);
        lost_(static_cast<uint16_t>(core), now_);
    }
}

bool Coherence::watch(uint32_t core, std::span<const uint32_t> lines)
{
    const auto held = [&](uint32_t line) { return directory_[line].in_core(core); };
    if (machine_.count_hits || !lost_ || !std::all_of(lines.begin(), lines.end(), held)) {
        return false;
    }
    watched_[core].fill(kNoLine);
    std::copy(lines.begin(), lines.end(), watched_[core].begin());
    watching_ |= uint64_t{1} << core;
    return true;
}

void Coherence::invalidate_all(uint32_t line, Entry &entry)
{
    invalidate_others(line, entry, kNoCore);
    entry.set_owner(Entry::kNobody);
    entry.set_state(State::invalid);
}

// Nobody waits for a writeback, but others wait behind it.
void Coherence::write_back(uint32_t socket, uint32_t line, uint32_t cause, const Moment &moment)
{
    const uint32_t home = homes_.home(line);
    interconnect_.send_data(socket, home, moment);
    dram_[home].book(moment, dram_service_);
    if (counting_) {
        records_.message(home, socket, Message::writeback, kDataBytes);
        records_.written_back(line, cause);
    }
}

// A device's read leaves the copies, but the owner of a modified line knows that it is no longer alone. A write takes all copies.
void Coherence::dma(uint64_t now, uint32_t line, bool write)
{
    now_ = now;
    Entry &entry = directory_[line];
    const uint32_t home = homes_.home(line);
    const Moment moment = begin_transaction(now, now);
    if (counting_) {
        records_.message(home, kDeviceSocket, Message::dma, kDataBytes);
    }
    if (write) {
        interconnect_.send_data(kDeviceSocket, home, moment);
        dram_[home].book(moment, dram_service_);
        if (entry.cached()) {
            invalidate_all(line, entry);
        }
        probe_filter_[home].forget(homes_.local(line));
        return;
    }
    interconnect_.send_command(kDeviceSocket, home, moment);
    if (entry.dirty()) {
        if (entry.owned_by_core()) {
            cores_[entry.owner_core()].hide_stores(line);
        }
        entry.set_state(State::owned);
        interconnect_.send_data(owner_socket(entry), kDeviceSocket, moment);
    } else {
        dram_[home].book(moment, dram_service_);
        interconnect_.send_data(home, kDeviceSocket, moment);
    }
}

} // namespace mosbench
