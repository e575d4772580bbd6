// SPDX-License-Identifier: GPL-2.0-or-later
//
// The coherence protocol of an AMD Opteron with HT Assist: MOESI; the home of a line orders the requests for it, probes the
// owner where its probe filter knows one, everybody where it knows the line is shared, nobody where it knows nothing.
//
// Level by level: L1 and L2 of a core exclude each other; the L3 of a socket takes what falls out of its L2s and gives it back,
// keeping a copy only of shared lines.
#ifndef MOSBENCH_MODEL_COHERENCE_H
#define MOSBENCH_MODEL_COHERENCE_H

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "fast-engine/model/cache_array.h"
#include "fast-engine/model/directory.h"
#include "fast-engine/model/home.h"
#include "fast-engine/model/interconnect.h"
#include "fast-engine/model/line_queues.h"
#include "fast-engine/model/machine_file.h"
#include "fast-engine/model/model_abi.h"
#include "fast-engine/model/private_caches.h"
#include "fast-engine/model/probe_filter.h"
#include "fast-engine/model/victim_array.h"
#include "native/records/records.h"

namespace mosbench {

class Coherence {
  public:
    // `filters`: one per core, or empty where every access shall be asked about. `lines`: of guest memory.
    // `lost` may be null: nobody watches.
    Coherence(const Machine &machine, uint64_t lines, const std::vector<model_filter *> &filters,
              model_line_lost *lost = nullptr);

    // Forgets all contents.
    void clear();
    void count(bool on) { counting_ = on; }

    // Returns the cycles the core waits beyond an L1 hit, or MODEL_DEFERRED and the cycles after which it is to ask again.
    uint64_t access(const model_access &access);
    void dma(uint64_t now, uint32_t line, bool write);
    // The core will make an access to the line, after some of other cores. Changes nothing but the time that the host takes for
    // it.
    void expect(uint32_t core, uint32_t line, bool fetch);
    // See model_abi.h.
    bool watch(uint32_t core, std::span<const uint32_t> lines);

    Records &records() { return records_; }
    const Entry &entry(uint32_t line) const { return directory_[line]; }
    const Interconnect &interconnect() const { return interconnect_; }

  private:
    // When the home of a line begins with a request.
    struct Turn {
        uint64_t start;
        uint64_t waited = 0; // cycles that the core was sent away for before
        bool later = false;  // it is to come back at `start`
        bool behind = false; // it was not sent away, but others who were come first
    };
    // A request under way. Its home starts with it when the line is free: a line serves one request after the other.
    struct Request {
        Moment moment;
        bool behind;
        uint32_t line, core, socket, home;
    };
    struct Answer {
        uint64_t cycles;
        Source source;
        bool pipelined = false; // a read of a line that several hold, or nobody: the home need not wait for it
    };

    // An expected miss. What falls out of one cache says where to look in the next, so the host's cache misses for it come one
    // after the other; each step asks for what the next one looks at.
    struct Expected {
        uint32_t core, line;
        uint32_t falling; // out of the cache that the last step has looked at, or kNoLine
        bool fetch;
        uint8_t steps; // taken
    };
    static constexpr uint32_t kSteps = 5, kMostExpected = 64;

    // A core's write-combining buffers: the line of the open one, and when each will be free. Four: an estimate; AMD's
    // optimization guide (25112, appendix B) says that up to revision C of the Opteron one was open at a time.
    static constexpr uint32_t kCombiningBuffers = 4;
    struct Combining {
        uint32_t line = kNoLine;
        uint32_t next = 0;
        std::array<uint64_t, kCombiningBuffers> free{};
    };

    uint64_t stream(const model_access &access, Entry &entry);

    void foresee_miss(const model_access &access);
    void begin_steps(uint32_t core, uint32_t line, bool fetch);
    void take_step(Expected &expected);
    Turn take_turn(const model_access &access, Entry &entry, bool write);
    uint64_t foresee(const model_access &access, Queue &queue, bool write) const;
    Request begin_request(const model_access &access, const Turn &turn);
    Moment begin_transaction(uint64_t now, uint64_t start) { return {++transactions_, now, start}; }
    uint64_t finish_request(const Request &request, Entry &entry, uint64_t cycles, bool pipelined);
    uint64_t perturbation(uint64_t transaction) const;
    uint64_t busy_with_read(uint64_t cycles) const { return std::min<uint64_t>(cycles, machine_.read_busy_cycles); }
    Answer read_miss(const Request &request, Entry &entry, bool fetch);
    Answer write_miss(const Request &request, Entry &entry);
    uint64_t upgrade(const Request &request, Entry &entry);
    void take_from_l3(uint32_t core, uint32_t line, Entry &entry);

    bool look_in_probe_filter(const Request &request);
    uint64_t ask_home(const Request &request, Message kind);
    Answer from_owner(const Request &request, const Entry &entry);
    Answer from_memory(const Request &request);
    uint64_t broadcast(const Request &request);

    void fill(uint32_t core, uint32_t line, bool fetch, bool from_l2, const Moment &moment);
    void core_victim(uint32_t core, uint32_t line, const Moment &moment);
    void l3_victim(uint32_t socket, uint32_t line, uint32_t cause, const Moment &moment);
    void back_invalidate(const Request &cause, uint32_t line);
    void exchange(uint32_t line, Entry &entry);
    void invalidate_others(uint32_t line, Entry &entry, uint32_t keep);
    void invalidate_all(uint32_t line, Entry &entry);
    void copy_lost(uint32_t core, uint32_t line);
    void write_back(uint32_t socket, uint32_t line, uint32_t cause, const Moment &moment);

    uint32_t owner_socket(const Entry &entry) const
    {
        return entry.owned_by_core() ? socket_of_[entry.owner_core()] : entry.owner_l3();
    }
    void message(const Request &request, Message kind, uint32_t bytes, uint32_t messages = 1)
    {
        if (counting_) {
            records_.message(request.home, request.socket, kind, bytes, messages);
        }
    }

    const Machine machine_;
    const HomeMap homes_;
    std::vector<uint8_t> socket_of_; // by core
    Directory directory_;
    TagMemory tags_;
    std::vector<PrivateCaches> cores_;
    std::vector<VictimArray> l3_;           // by socket
    std::vector<ProbeFilter> probe_filter_; // by home
    Interconnect interconnect_;
    std::vector<Server> dram_; // by home
    uint64_t dram_service_;
    LineQueues queues_;
    std::array<Combining, kMaxCores> combining_{};
    Records records_;
    std::array<Expected, kMostExpected> expected_{}; // a ring
    uint32_t expectations_ = 0, step_spacing_ = 1;
    std::array<uint32_t, kMostExpected> recent_{};                    // of the lines expected last, by their low bits
    std::array<uint32_t, kMaxCores> expected_line_{}, expected_at_{}; // by core: its last one
    std::array<uint32_t, kMaxCores> last_miss_{};                     // by core
    std::array<std::array<uint32_t, MODEL_MAX_WATCHED>, kMaxCores> watched_{};
    uint64_t watching_ = 0; // mask of cores
    model_line_lost *const lost_;
    uint64_t now_ = 0; // of the access under way
    uint64_t transactions_ = 0;
    bool counting_ = false;
};

} // namespace mosbench

#endif
