// SPDX-License-Identifier: GPL-2.0-or-later
//
// The coherence protocol of an AMD Opteron with HT Assist: MOESI; the home of a line orders the requests for it, probes the
// owner where its probe filter knows one, everybody where it knows the line is shared, nobody where it knows nothing. Without
// probe filters (HyperTransport before HT Assist) it probes everybody each time and reads memory meanwhile; the requester goes on
// when the last of them has answered, and knows from the answers whether others have the line.
//
// An access looks the line up in the caches of its core and socket; if that is not enough it takes its turn at the line's home
// and makes a request there; what the line pushes out of a cache goes the way of a victim. The parts, from below:
//   caches       who holds a copy of a line (caches, directory)
//   homes        what is asked of a line's home and how long that takes (probe filters, links, memory)
//   home_queue   when the home begins with a request
//   counters     what is counted of it all
#ifndef MOSBENCH_MODEL_COHERENCE_H
#define MOSBENCH_MODEL_COHERENCE_H

#include <cstdint>
#include <span>
#include <vector>

#include "fast-engine/model/cache_array.h"
#include "fast-engine/model/caches.h"
#include "fast-engine/model/code_ahead.h"
#include "fast-engine/model/counters.h"
#include "fast-engine/model/directory.h"
#include "fast-engine/model/home_queue.h"
#include "fast-engine/model/homes.h"
#include "fast-engine/model/host_prefetch.h"
#include "fast-engine/model/machine_file.h"
#include "fast-engine/model/model_abi.h"
#include "fast-engine/model/overlap.h"
#include "fast-engine/model/request.h"
#include "fast-engine/model/watches.h"
#include "fast-engine/model/write_combining.h"
#include "native/records/records.h"

namespace mosbench {

class Coherence {
  public:
    // `filters`: one per core, or empty where every access shall be asked about. `lines`: of guest memory.
    // `lost` may be null: nobody watches.
    Coherence(const Machine &machine, uint64_t lines, const std::vector<model_filter *> &filters,
              model_line_lost *lost = nullptr);
    Coherence(const Coherence &) = delete; // the parts know each other
    Coherence &operator=(const Coherence &) = delete;

    // Forgets all contents.
    void clear();
    void count(bool on) { counters_.count(on); }
    // Every access and sample that is counted may ask who called; `source` outlives this.
    void follow_calls(CallerSource *source) { counters_.follow_calls(source, machine_.chain_period_transfers); }
    void sample(uint16_t core, uint64_t pc, bool kernel, uint32_t periods) { counters_.sample(core, pc, kernel, periods); }

    // Returns the cycles the core waits beyond an L1 hit, or MODEL_DEFERRED and the cycles after which it is to ask again.
    uint64_t access(const model_access &access);
    // See model_abi.h.
    uint64_t serialized(uint32_t core, uint64_t now) { return overlap_.serialized(core, now); }
    // `card`: by the network card, which the records name.
    void dma(uint64_t now, uint32_t line, bool write, bool card = false);
    // The core will make an access to the line, after some of other cores. Changes nothing but the time that the host takes for
    // it.
    void expect(uint32_t core, uint32_t line, bool fetch) { prefetch_.expect(core, line, fetch); }
    // See model_abi.h.
    bool watch(uint32_t core, std::span<const uint32_t> lines);

    Records &records() { return counters_.records(); }
    const Entry &entry(uint32_t line) const { return caches_.entry(line); }
    const Caches &caches() const { return caches_; }
    const Homes &homes() const { return homes_; }
    const Interconnect &interconnect() const { return homes_.interconnect(); }

  private:
    uint64_t stream(const model_access &access);
    Answer bring(const model_access &access, const Turn &turn, Entry &entry, bool write, bool fetch);
    void prefetch_code(const model_access &missed);
    void prefetch_code_line(const model_access &access);

    // Requests.
    Moment begin_transaction(uint64_t now, uint64_t start) { return {++transactions_, now, start}; }
    Request begin_request(const model_access &access, uint64_t start);
    Answer miss(const model_access &access, const Turn &turn, Entry &entry, bool write, bool fetch);
    Answer get_shared(const Request &request, Entry &entry, bool fetch);
    Answer get_exclusive(const Request &request, Entry &entry);
    uint64_t upgrade(const Request &request, Entry &entry);
    bool known_as_cached(const Request &request, const Entry &entry);
    void own(const Request &request, Entry &entry);
    void device_write(const Request &request, Entry &entry);
    void device_read(const Request &request, Entry &entry);

    // Victims.
    void fill(uint32_t core, uint32_t line, bool fetch, bool held, const Moment &moment);
    void core_victim(uint32_t core, uint32_t line, const Moment &moment);
    void l3_victim(uint32_t socket, uint32_t line, uint32_t cause, const Moment &moment);
    void probe_filter_victim(const Request &cause, uint32_t line);

    // Copies that are taken away.
    uint32_t probes_for_copies(const Entry &entry) const { return !entry.cached() ? 0 : entry.writable() ? 1 : machine_.sockets; }
    void take_copies(uint32_t line, Entry &entry, uint64_t kept, uint64_t now);
    void take_all_copies(uint32_t line, Entry &entry, uint64_t now);

    const Machine machine_;
    Counters counters_;
    TagMemory tags_;
    Caches caches_;
    Homes homes_;
    HomeQueue home_queue_;
    WriteCombining write_combining_;
    Overlap overlap_;
    CodeAhead code_ahead_;
    Watches watches_;
    HostPrefetch prefetch_;
    uint64_t transactions_ = 0; // that have begun
};

} // namespace mosbench

#endif
