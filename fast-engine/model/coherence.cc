// SPDX-License-Identifier: GPL-2.0-or-later
#include "fast-engine/model/coherence.h"

#include <algorithm>

#include "fast-engine/model/bits.h"
#include "fast-engine/model/invariant.h"

namespace mosbench {

namespace {

// A line that was quiet for so many cycles is its holder's own again. Long against what a core runs ahead on lines of its own, so
// that what it wrongly does there is a small share.
constexpr uint64_t kQuiet = 65'536;

constexpr uint32_t kLineBytes = 64, kLinesOfAPage = 4096 / kLineBytes;

} // namespace

Coherence::Coherence(const Machine &machine, uint64_t lines, const std::vector<model_filter *> &filters, model_line_lost *lost)
    : machine_(machine), counters_(machine, lines), tags_(Caches::tags_of(machine) + Homes::tags_of(machine)),
      caches_(machine, lines, tags_, filters), homes_(machine, tags_, counters_),
      home_queue_(machine, homes_.map(), homes_.interconnect()), overlap_(machine), code_ahead_(machine), watches_(lost),
      prefetch_(caches_, homes_, counters_)
{
    overlap_.attach(filters);
    clear();
}

void Coherence::clear()
{
    caches_.clear();
    homes_.clear();
    home_queue_.clear();
    write_combining_.clear();
    overlap_.clear();
    code_ahead_.clear();
}

uint64_t Coherence::access(const model_access &access)
{
    if (access.kind == MODEL_STREAM) {
        return stream(access);
    }
    const uint32_t line = access.line, core = access.core;
    const bool write = access.kind == MODEL_WRITE || access.kind == MODEL_ATOMIC;
    const bool fetch = access.kind == MODEL_FETCH;
    Entry &entry = caches_.entry(line);
    if (entry.exchanged() && access.now > entry.busy_until() + kQuiet) {
        entry.set_exchanged(false);
    }

    // Who must ask the home takes his turn there first.
    const bool here = entry.in_core(core) || entry.in_l3(caches_.socket_of(core));
    const bool asks = !here || (write && !entry.writable());
    if (asks && access.early) {
        return MODEL_DEFERRED;
    }
    const Turn turn = asks ? home_queue_.take_turn(access, entry, write) : Turn{};
    if (turn.kind == Turn::Kind::joined && entry.owned_by_core() && (write || entry.dirty())) {
        caches_.exchange(line, entry);
    }
    if (turn.sent_away()) {
        counters_.sent_away(core, home_queue_.awaited(core), turn.start - access.now);
        return MODEL_DEFERRED | (turn.start - access.now);
    }

    Answer answer = bring(access, turn, entry, write, fetch);
    CodeAhead::Late late;
    if (fetch && answer.source == Source::held) {
        late = code_ahead_.late(core, line, access.now);
        answer.cycles += late.cycles;
    }

    // A store needs it in M.
    bool upgraded = false, first_write = false;
    if (write) {
        caches_.core(core).drop_instruction_copy(line);
        if (entry.state() == State::exclusive) {
            entry.set_state(State::modified);
            first_write = true;
        } else if (entry.state() != State::modified) {
            const Request request = begin_request(access, turn.start);
            answer.cycles = home_queue_.finish(request, turn, entry, upgrade(request, entry), false);
            upgraded = true;
        }
    }
    caches_.core(core).show(line, fetch, entry.state() == State::modified, entry.exchanged());

    const uint64_t waited = overlap_.waited(access, answer.cycles - machine_.l1_cycles, turn.waited);
    counters_.accessed(access, answer.source, upgraded, first_write, waited, turn.waited, late.source);
    if (fetch && answer.source != Source::held) {
        prefetch_code(access);
    }
    return waited;
}

// The line comes into the L1.
Answer Coherence::bring(const model_access &access, const Turn &turn, Entry &entry, bool write, bool fetch)
{
    const uint32_t line = access.line, core = access.core;
    switch (caches_.look_up(core, line, fetch, entry)) {
    case Caches::Level::l1:
        return {machine_.l1_cycles, Source::held};
    case Caches::Level::core:
        fill(core, line, fetch, true, begin_transaction(access.now, access.now));
        return {machine_.l2_cycles, Source::l2};
    case Caches::Level::l3:
        caches_.l3_to_core(core, line, entry);
        fill(core, line, fetch, false, begin_transaction(access.now, access.now));
        return {machine_.l3_cycles, Source::l3};
    case Caches::Level::beyond:
        break;
    }
    return miss(access, turn, entry, write, fetch);
}

// With a line of code the L1I asks for those behind it, up to the end of the page.
void Coherence::prefetch_code(const model_access &missed)
{
    model_access next = missed;
    next.may_defer = false;
    for (uint32_t i = 0; i < code_ahead_.lines() && ++next.line % kLinesOfAPage != 0; i++) {
        next.pc = next.address = (next.address | (kLineBytes - 1)) + 1;
        next.size = kLineBytes;
        if (!caches_.core(next.core).has_code(next.line)) {
            prefetch_code_line(next);
        }
    }
}

// As a fetch that nobody waits for.
void Coherence::prefetch_code_line(const model_access &access)
{
    Entry &entry = caches_.entry(access.line);
    const bool here = entry.in_core(access.core) || entry.in_l3(caches_.socket_of(access.core));
    if (!here && access.early) {
        return;
    }
    const Turn turn = here ? Turn{} : home_queue_.take_turn(access, entry, false);
    const Answer answer = bring(access, turn, entry, false, true);
    caches_.core(access.core).show_ahead(access.line);
    code_ahead_.ask(access.core, access.line, access.now + answer.cycles - machine_.l1_cycles, answer.source);
    counters_.accessed(access, answer.source, false, false, 0, 0);
}

// Stores past the caches: all copies go, also of a line that was dirty, since the buffer is as a rule full; and the burst need
// not come back.
uint64_t Coherence::stream(const model_access &access)
{
    const uint32_t line = access.line, core = access.core;
    Entry &entry = caches_.entry(line);
    if (write_combining_.open(core, line) && !entry.cached()) {
        counters_.combined(access);
        return 0;
    }
    if (access.early) {
        return MODEL_DEFERRED;
    }
    const Request request = begin_request(access, access.now);
    homes_.take_back(request, probes_for_copies(entry));
    if (entry.cached()) {
        take_all_copies(line, entry, access.now);
    }
    homes_.forget(line);
    const uint64_t queued = homes_.burst(request);
    const uint64_t way = homes_.interconnect().memory_cycles(request.socket, request.home) / 2;
    const uint64_t waited = write_combining_.begin(core, line, access.now, queued, way);
    counters_.streamed(access, homes_.memory_of(request), waited);
    return waited;
}

bool Coherence::watch(uint32_t core, std::span<const uint32_t> lines)
{
    const auto held = [&](uint32_t line) { return entry(line).in_core(core); };
    if (machine_.count_hits || !watches_.possible() || !std::all_of(lines.begin(), lines.end(), held)) {
        return false;
    }
    watches_.watch(core, lines);
    return true;
}

Request Coherence::begin_request(const model_access &access, uint64_t start)
{
    return {.moment = begin_transaction(access.now, start),
            .line = access.line,
            .core = access.core,
            .socket = caches_.socket_of(access.core),
            .home = homes_.of(access.line)};
}

Answer Coherence::miss(const model_access &access, const Turn &turn, Entry &entry, bool write, bool fetch)
{
    const Request request = begin_request(access, turn.start);
    prefetch_.miss(request.core, request.line, fetch);
    Answer answer = write ? get_exclusive(request, entry) : get_shared(request, entry, fetch);
    answer.cycles = home_queue_.finish(request, turn, entry, answer.cycles, answer.pipelined);
    fill(request.core, request.line, fetch, false, request.moment);
    return answer;
}

// GETS. Code is asked for as shared: nobody means to write it.
Answer Coherence::get_shared(const Request &request, Entry &entry, bool fetch)
{
    const bool known = known_as_cached(request, entry);
    const uint64_t asked = homes_.ask(request, Message::read);
    const bool alone = entry.writable();
    Answer answer;
    switch (entry.state()) {
    case State::modified: // the owner answers and stays it: memory is out of date
    case State::owned:
        answer = homes_.from_owner(request, caches_.owner_socket(entry));
        if (entry.owned_by_core()) {
            caches_.core(entry.owner_core()).hide_stores(request.line);
            caches_.exchange(request.line, entry);
        }
        entry.set_state(State::owned);
        break;
    case State::exclusive: // the owner answers; memory knows as much, so nobody need own the line
        answer = homes_.from_owner(request, caches_.owner_socket(entry));
        if (entry.owned_by_core()) {
            caches_.core(entry.owner_core()).hide_stores(request.line);
        }
        entry.set_state(State::shared);
        entry.set_owner(Entry::kNobody);
        break;
    case State::shared: // memory answers; where the home knows nobody, the reader is alone
    case State::invalid:
        answer = homes_.from_memory(request);
        if (known || fetch) {
            entry.set_state(State::shared);
        } else {
            entry.set_state(State::exclusive);
            entry.set_owner(Entry::core_as_owner(request.core));
        }
        break;
    }
    entry.add_core(request.core);
    entry.check(request.line);
    answer.cycles += asked;
    answer.pipelined = !alone && !entry.writable();
    return answer;
}

// GETX.
Answer Coherence::get_exclusive(const Request &request, Entry &entry)
{
    const bool known = known_as_cached(request, entry);
    const uint64_t asked = homes_.ask(request, Message::read_exclusive);
    const bool all = known && !entry.writable() && homes_.filtered(); // there may be others
    Answer answer = entry.owner() != Entry::kNobody ? homes_.from_owner(request, caches_.owner_socket(entry), all)
                                                    : homes_.from_memory(request);
    if (all) {
        answer.cycles = std::max(answer.cycles, homes_.broadcast(request));
    }
    own(request, entry);
    answer.cycles += asked;
    return answer;
}

// The requester has the bytes (in its L1) and needs all other copies gone. Returns the cycles until they are.
uint64_t Coherence::upgrade(const Request &request, Entry &entry)
{
    known_as_cached(request, entry);
    const uint64_t asked = homes_.ask(request, Message::upgrade);
    const uint64_t cycles = homes_.broadcast(request);
    own(request, entry);
    return asked + cycles;
}

// Whether the home knew the line as cached; it does afterwards. Without probe filters: whether a socket answers that it has it.
bool Coherence::known_as_cached(const Request &request, const Entry &entry)
{
    if (!homes_.filtered()) {
        return entry.cached();
    }
    const ProbeFilter::Look look = homes_.look_in_probe_filter(request);
    invariant(look.known || !entry.cached(), "the home of a line that is cached knows it", request.line);
    if (look.victim != kNoLine) {
        probe_filter_victim(request, look.victim);
    }
    return look.known;
}

// The requester gets the line in M, and it alone.
void Coherence::own(const Request &request, Entry &entry)
{
    const uint64_t requester = bit(request.core);
    if ((entry.cores & ~requester) != 0) {
        entry.set_exchanged(true);
    }
    take_copies(request.line, entry, requester, request.moment.now);
    entry.add_core(request.core);
    entry.set_owner(Entry::core_as_owner(request.core));
    entry.set_state(State::modified);
    entry.check(request.line);
}

// A device's read leaves the copies, but the owner of a modified line knows that it is no longer alone. A write takes all copies.
void Coherence::dma(uint64_t now, uint32_t line, bool write, bool card)
{
    const Request request = {
        .moment = begin_transaction(now, now), .line = line, .core = 0, .socket = Homes::kDeviceSocket, .home = homes_.of(line)};
    write ? device_write(request, caches_.entry(line)) : device_read(request, caches_.entry(line));
    if (card) {
        counters_.by_card(line, write);
    }
}

void Coherence::device_write(const Request &request, Entry &entry)
{
    homes_.device_write(request);
    if (entry.cached()) {
        take_all_copies(request.line, entry, request.moment.now);
    }
    homes_.forget(request.line);
}

void Coherence::device_read(const Request &request, Entry &entry)
{
    if (!entry.dirty()) {
        homes_.device_read(request);
        return;
    }
    if (entry.owned_by_core()) {
        caches_.core(entry.owner_core()).hide_stores(request.line);
    }
    entry.set_state(State::owned);
    entry.check(request.line);
    homes_.device_read(request, caches_.owner_socket(entry));
}

// Brings a line into a core's L1; `held`: the core has it in another of its caches.
void Coherence::fill(uint32_t core, uint32_t line, bool fetch, bool held, const Moment &moment)
{
    const uint32_t victim = caches_.core(core).fill(line, fetch, held);
    if (victim != kNoLine) {
        core_victim(core, victim, moment);
    }
}

void Coherence::core_victim(uint32_t core, uint32_t line, const Moment &moment)
{
    const uint32_t victim = caches_.core_to_l3(core, line, caches_.entry(line));
    if (victim != kNoLine) {
        l3_victim(caches_.socket_of(core), victim, core, moment);
    }
}

// Owners tell the home when they give a line up; sharers do not, and the probe filter keeps believing in them.
void Coherence::l3_victim(uint32_t socket, uint32_t line, uint32_t cause, const Moment &moment)
{
    Entry &entry = caches_.entry(line);
    invariant(entry.in_l3(socket), "what falls out of an L3 is its in the directory", line);
    entry.drop_l3(socket);
    if (entry.owner() == Entry::l3_as_owner(socket)) {
        if (entry.dirty()) {
            homes_.write_back(line, socket, cause, moment);
        }
        entry.set_owner(Entry::kNobody);
        entry.set_state(State::shared);
        if (!entry.cached()) {
            homes_.forget(line);
        }
    }
    if (!entry.cached()) {
        entry.set_state(State::invalid);
    }
    entry.check(line);
}

// The home lost a line out of its probe filter, so the line may not be cached any more.
void Coherence::probe_filter_victim(const Request &cause, uint32_t line)
{
    Entry &entry = caches_.entry(line);
    if (!entry.cached()) {
        return;
    }
    homes_.take_back(cause, probes_for_copies(entry));
    if (entry.dirty()) {
        homes_.write_back(line, caches_.owner_socket(entry), cause.core, cause.moment);
    }
    take_all_copies(line, entry, cause.moment.now);
}

// All but those of the cores in `kept`.
void Coherence::take_copies(uint32_t line, Entry &entry, uint64_t kept, uint64_t now)
{
    each_bit(caches_.take_copies(line, entry, kept), [&](uint32_t core) {
        counters_.copy_lost(line, core);
        watches_.copy_lost(core, line, now);
    });
}

void Coherence::take_all_copies(uint32_t line, Entry &entry, uint64_t now)
{
    take_copies(line, entry, 0, now);
    entry.set_owner(Entry::kNobody);
    entry.set_state(State::invalid);
    entry.check(line);
}

} // namespace mosbench
