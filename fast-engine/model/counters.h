// SPDX-License-Identifier: GPL-2.0-or-later
//
// The records, as the protocol adds to them: only between begin and end of the region of interest.
#ifndef MOSBENCH_MODEL_COUNTERS_H
#define MOSBENCH_MODEL_COUNTERS_H

#include <cstdint>
#include <span>

#include "fast-engine/model/machine_file.h"
#include "fast-engine/model/model_abi.h"
#include "native/records/records.h"

namespace mosbench {

// Who called the instruction that a core is at, from its caller outwards.
class CallerSource {
  public:
    virtual ~CallerSource() = default;
    virtual std::span<const uint64_t> callers(uint16_t core, uint64_t pc) = 0;
};

class Counters {
  public:
    Counters(const Machine &machine, uint64_t lines)
        : records_(lines, machine.sockets, machine.cores(), machine.count_hits), count_hits_(machine.count_hits)
    {
    }

    void count(bool on) { on_ = on; }
    Records &records() { return records_; }
    // Ask for callers from now on; not kept if the machine says never.
    void follow_calls(CallerSource *source, uint32_t period)
    {
        callers_ = period == 0 ? nullptr : source;
        records_.follow_calls(callers_ ? period : 0);
    }
    void sample(uint16_t core, uint64_t pc, bool kernel, uint32_t periods)
    {
        if (!on_) {
            return;
        }
        records_.sample(core, pc, kernel, periods);
        if (callers_ && records_.chains().next_sample()) {
            records_.chains().sample(pc, kernel, caller(core, pc), periods);
        }
    }

    // Messages of a kind between the home of a line and the socket that asks or is asked.
    void message(uint32_t home, uint32_t socket, Message kind, uint32_t bytes, uint32_t messages = 1)
    {
        if (on_) {
            records_.message(home, socket, kind, bytes, messages);
        }
    }
    // A dirty line that a socket's caches gave up, because of a request of core `cause`.
    void written_back(uint32_t line, uint32_t cause)
    {
        if (on_) {
            records_.written_back(line, cause);
        }
    }
    // A copy that another took away from a core.
    void copy_lost(uint32_t line, uint32_t core)
    {
        if (on_) {
            records_.copy_lost(line, core);
        }
    }
    // The network card read or wrote the line.
    void by_card(uint32_t line, bool write)
    {
        if (on_) {
            records_.by_card(line, write);
        }
    }
    // A burst of stores past the caches to `memory`, and the cycles that the core waited for a buffer.
    void streamed(const model_access &access, Source memory, uint64_t waited)
    {
        if (on_) {
            count_hit(access, false);
            records_.streamed(toucher(access), memory, waited);
        }
    }
    // A store past the caches into a line that is in the core's buffer already.
    void combined(const model_access &access)
    {
        if (on_) {
            count_hit(access, false);
        }
    }
    // A core that is to come back to a busy line after so many cycles, and what it waits for.
    void sent_away(uint32_t core, Source source, uint64_t cycles)
    {
        if (on_) {
            records_.sent_away(core, source, cycles);
        }
    }
    // An access: where it found its line, whether it needed an upgrade, whether it was the first store to a clean line of its
    // own, the cycles it waited beyond an L1 hit, and those that it was sent away for before. Of a hit, what it waited for.
    void accessed(const model_access &access, Source source, bool upgraded, bool first_write, uint64_t waited, uint64_t away,
                  Source waited_for = Source::held)
    {
        if (!on_) {
            return;
        }
        const bool event = source != Source::held || upgraded;
        count_hit(access, event && (source != Source::l2 || upgraded));
        if (event) {
            if (records_.event(toucher(access), source, upgraded, waited + away, away)) {
                records_.chains().transfer(access.line, access.pc, caller(access.core, access.pc), waited + away);
            }
            return;
        }
        if (first_write) {
            records_.first_write(toucher(access));
        }
        if (waited != 0) {
            records_.held_up(toucher(access), waited_for, waited);
        }
    }

    // What the next count of a line looks at, each a while after the one before: hints to the host's caches.
    void prefetch_line(uint32_t line) const
    {
        if (on_) {
            records_.prefetch_line(line);
        }
    }
    void prefetch_row(uint32_t line) const
    {
        if (on_) {
            records_.prefetch_row(line);
        }
    }
    void prefetch_site(uint32_t line) const
    {
        if (on_) {
            records_.prefetch_site(line);
        }
    }

  private:
    void count_hit(const model_access &access, bool beyond_l2)
    {
        if (count_hits_) {
            records_.counted_access(toucher(access), beyond_l2);
        }
    }
    uint32_t caller(uint16_t core, uint64_t pc)
    {
        const std::span<const uint64_t> callers = callers_->callers(core, pc);
        return records_.chains().caller(callers.data(), callers.size());
    }
    static Toucher toucher(const model_access &access)
    {
        return {.pc = access.pc,
                .address = access.address,
                .line = access.line,
                .core = access.core,
                .kind = access.kind == MODEL_WRITE || access.kind == MODEL_STREAM ? AccessKind::write
                        : access.kind == MODEL_ATOMIC                             ? AccessKind::atomic
                                                                                  : AccessKind::read,
                .kernel = access.kernel != 0,
                .address_known = access.kind != MODEL_WALK,
                .size = access.size};
    }

    Records records_;
    CallerSource *callers_ = nullptr; // null: nobody's callers are known
    const bool count_hits_;           // every access is counted, also an L1 hit
    bool on_ = false;
};

} // namespace mosbench

#endif
