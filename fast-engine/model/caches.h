// SPDX-License-Identifier: GPL-2.0-or-later
//
// All caches of the machine, and the directory that says of each line who holds it: what changes one changes the other. Level by
// level: L1 and L2 of a core exclude each other; the L3 of a socket takes what falls out of its L2s and gives it back, keeping a
// copy only of lines that somebody else may have too.
#ifndef MOSBENCH_MODEL_CACHES_H
#define MOSBENCH_MODEL_CACHES_H

#include <cstdint>
#include <vector>

#include "fast-engine/model/bits.h"
#include "fast-engine/model/cache_array.h"
#include "fast-engine/model/directory.h"
#include "fast-engine/model/invariant.h"
#include "fast-engine/model/machine_file.h"
#include "fast-engine/model/private_caches.h"
#include "fast-engine/model/victim_array.h"

namespace mosbench {

class Caches {
  public:
    // `lines`: of guest memory. `filters`: one per core, or empty where every access shall be asked about.
    Caches(const Machine &machine, uint64_t lines, TagMemory &tags, const std::vector<model_filter *> &filters);
    // Tags of all caches together.
    static size_t tags_of(const Machine &machine);

    // Forgets all contents.
    void clear();

    uint64_t lines() const { return directory_.size(); }
    Entry &entry(uint32_t line) { return directory_[line]; }
    const Entry &entry(uint32_t line) const { return directory_[line]; }
    PrivateCaches &core(uint32_t core) { return cores_[core]; }
    const PrivateCaches &core(uint32_t core) const { return cores_[core]; }
    const VictimArray &l3(uint32_t socket) const { return l3_[socket]; }
    uint32_t socket_of(uint32_t core) const { return socket_of_[core]; }
    uint32_t owner_socket(const Entry &entry) const
    {
        return entry.owned_by_core() ? socket_of_[entry.owner_core()] : entry.owner_l3();
    }

    // Where a core finds a line without a request to its home.
    enum class Level { l1, core, l3, beyond };
    Level look_up(uint32_t core, uint32_t line, bool fetch, const Entry &entry)
    {
        if (cores_[core].touch_l1(line, fetch)) {
            invariant(entry.in_core(core), "what is in an L1 is the core's in the directory", line);
            return Level::l1;
        }
        return entry.in_core(core) ? Level::core : entry.in_l3(socket_of_[core]) ? Level::l3 : Level::beyond;
    }

    // The socket's L3 gives a core its line: away, if the core may write it, or a copy.
    void l3_to_core(uint32_t core, uint32_t line, Entry &entry);
    // A line has fallen out of a core's L2: it goes to the socket's L3, unless that has it. Returns the line that had to leave
    // the L3 for it, or kNoLine; that is still in the directory.
    uint32_t core_to_l3(uint32_t core, uint32_t line, Entry &entry);

    // Takes away all copies but those of the cores in `kept`. Returns the mask of the cores that have lost one. The state is left
    // to the caller.
    uint64_t take_copies(uint32_t line, Entry &entry, uint64_t kept);

    // One core reads what another has written, or writes what another has: from now on their hits are asked about, and so come in
    // order with the other accesses.
    void exchange(uint32_t line, Entry &entry);

  private:
    std::vector<uint8_t> socket_of_; // by core
    Directory directory_;
    std::vector<PrivateCaches> cores_;
    std::vector<VictimArray> l3_; // by socket
};

} // namespace mosbench

#endif
