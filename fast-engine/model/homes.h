// SPDX-License-Identifier: GPL-2.0-or-later
//
// The nodes as homes of lines: their probe filters and memories, and the links between them. Here is what a request sends where,
// what of that is counted, and how many cycles go by until the answer is there; what becomes of the line is the protocol's.
#ifndef MOSBENCH_MODEL_HOMES_H
#define MOSBENCH_MODEL_HOMES_H

#include <cstdint>
#include <vector>

#include "fast-engine/model/cache_array.h"
#include "fast-engine/model/counters.h"
#include "fast-engine/model/home_map.h"
#include "fast-engine/model/interconnect.h"
#include "fast-engine/model/machine_file.h"
#include "fast-engine/model/probe_filter.h"
#include "fast-engine/model/request.h"
#include "fast-engine/model/server.h"

namespace mosbench {

class Homes {
  public:
    static constexpr uint32_t kDeviceSocket = 0; // the one with the way to the devices

    Homes(const Machine &machine, TagMemory &tags, Counters &counters);
    // Tags of all probe filters together.
    static size_t tags_of(const Machine &machine) { return TagMemory::tags_of(machine.probe_filter) * machine.sockets; }

    // Forgets all contents.
    void clear();

    uint32_t of(uint32_t line) const { return map_.home(line); }
    const Interconnect &interconnect() const { return interconnect_; }
    const HomeMap &map() const { return map_; }

    // Without probe filters a home knows nothing of any line: with each request it asks all sockets, and its memory meanwhile.
    bool filtered() const { return !probe_filters_.empty(); }
    // With probe filters. Whether the home knew the line as cached; it does afterwards, and may have forgotten another one for
    // it.
    ProbeFilter::Look look_in_probe_filter(const Request &request);
    bool knows(uint32_t line) const { return probe_filters_[of(line)].knows(map_.local(line)); }
    void forget(uint32_t line)
    {
        if (filtered()) {
            probe_filters_[of(line)].forget(map_.local(line));
        }
    }
    void prefetch_probe_filter(uint32_t line) const
    {
        if (filtered()) {
            probe_filters_[of(line)].prefetch(map_.local(line));
        }
    }

    // The request goes to the home. Returns the cycles that it waits for links.
    uint64_t ask(const Request &request, Message kind);
    // The home probes the one that owns the line, in socket `owner`, who answers to the requester; `with_all`: the probe is one
    // of a broadcast. Without probe filters all are probed, and memory is read in vain: the owner's bytes count when the last of
    // them has answered.
    Answer from_owner(const Request &request, uint32_t owner, bool with_all = false);
    // The home's memory answers. Without probe filters the requester waits for the answers of all sockets too.
    Answer from_memory(const Request &request);
    // All sockets are probed and acknowledge to the requester. Returns the cycles until the last one has.
    uint64_t broadcast(const Request &request);

    // Copies that a request takes away without asking for the bytes, with `probes`; without probe filters all sockets are probed,
    // for a line that nobody has too. Nobody waits for them.
    void take_back(const Request &cause, uint32_t probes);
    // A socket writes a line to memory because of a request of core `cause`. Nobody waits for it, but others wait behind it.
    void write_back(uint32_t line, uint32_t socket, uint32_t cause, const Moment &moment);
    // A burst of stores past the caches. Returns the cycles that it waits for links and memory.
    uint64_t burst(const Request &request);
    // Whether the line is in the memory of the requester's socket.
    static Source memory_of(const Request &request)
    {
        return request.home == request.socket ? Source::dram_local : Source::dram_remote;
    }

    // A device's access; `request` is of kDeviceSocket. A dirty line is read from its owner in socket `owner`. Without probe
    // filters all sockets are probed, and nobody waits for that.
    void device_write(const Request &request);
    void device_read(const Request &request);
    void device_read(const Request &request, uint32_t owner);

  private:
    void probe_for_device(const Request &request);
    uint64_t to_memory(uint32_t socket, uint32_t home, const Moment &moment);
    uint64_t out_of_memory(uint32_t home, uint32_t socket, const Moment &moment);

    const HomeMap map_;
    std::vector<ProbeFilter> probe_filters_; // by home; none where the machine has none
    Interconnect interconnect_;
    std::vector<Server> dram_;    // by home
    const uint64_t dram_service_; // of a line, 1/1024 cycles
    Counters &counters_;
};

} // namespace mosbench

#endif
