// SPDX-License-Identifier: GPL-2.0-or-later
//
// The protocol once more, as plainly as can be: every cache keeps a list of its lines and a state for each of its copies, nobody
// keeps a directory, nothing queues but requests for one line. Slow; the model is compared with it.
#ifndef MOSBENCH_TESTS_MODEL_REFERENCE_H
#define MOSBENCH_TESTS_MODEL_REFERENCE_H

#include <algorithm>
#include <cstdint>
#include <list>
#include <map>
#include <vector>

#include "fast-engine/model/home_map.h"
#include "fast-engine/model/interconnect.h"
#include "fast-engine/model/machine_file.h"
#include "fast-engine/model/model_abi.h"

namespace mosbench::test {

class Lru {
  public:
    explicit Lru(CacheShape shape) : shape_(shape), sets_(shape.sets) {}

    bool has(uint32_t line) const
    {
        const auto &set = sets_[line % shape_.sets];
        return std::find(set.begin(), set.end(), line) != set.end();
    }
    void use(uint32_t line)
    {
        remove(line);
        sets_[line % shape_.sets].push_front(line);
    }
    // Returns what had to go, or -1.
    int64_t insert(uint32_t line)
    {
        auto &set = sets_[line % shape_.sets];
        int64_t victim = -1;
        if (set.size() == shape_.ways) {
            victim = set.back();
            set.pop_back();
        }
        set.push_front(line);
        return victim;
    }
    void remove(uint32_t line) { sets_[line % shape_.sets].remove(line); }
    int64_t first(uint32_t set) const { return sets_[set].empty() ? -1 : int64_t{sets_[set].front()}; }

  private:
    CacheShape shape_;
    std::vector<std::list<uint32_t>> sets_;
};

struct Counts {
    uint64_t l1_misses, l2_hits, l3_hits, same_socket, other_socket, dram_local, dram_remote, upgrades, invalidations, writebacks;
    uint64_t wait;
    bool operator==(const Counts &) const = default;
};

class Reference {
  public:
    explicit Reference(const Machine &machine)
        : machine(machine), homes(machine), net(machine), l1d(machine.cores(), Lru(machine.l1d)),
          l1i(machine.cores(), Lru(machine.l1i)), l2(machine.cores(), Lru(machine.l2)), l3(machine.sockets, Lru(machine.l3)),
          filter(machine.filtered() ? machine.sockets : 0, Lru(machine.probe_filter)), counts(machine.cores())
    {
    }

    // A cache that can hold a copy: a core's (L1s and L2 together) or, from 100 on, a socket's L3.
    using Holder = uint32_t;
    static constexpr Holder kL3 = 100;

    char state(Holder holder, uint32_t line) const
    {
        const auto found = states.find({line, holder});
        return found == states.end() ? 'I' : found->second;
    }

    uint64_t access(uint64_t now, uint32_t core, uint32_t line, int kind)
    {
        const bool write = kind == MODEL_WRITE || kind == MODEL_ATOMIC, fetch = kind == MODEL_FETCH;
        const uint32_t socket = machine.socket_of(core), home = homes.home(line);
        if (kind == MODEL_STREAM) {
            return stream(now, core, line);
        }
        Lru &l1 = fetch ? l1i[core] : l1d[core];
        Counts &count = counts[core];
        uint64_t cycles;
        if (l1.has(line)) {
            l1.use(line);
            cycles = machine.l1_cycles;
        } else if (state(core, line) != 'I') {
            cycles = machine.l2_cycles;
            count.l1_misses++, count.l2_hits++;
            l2[core].remove(line);
            into_l1(core, line, fetch);
        } else if (state(kL3 + socket, line) != 'I') {
            cycles = machine.l3_cycles;
            count.l1_misses++, count.l3_hits++;
            const char had = state(kL3 + socket, line);
            if (had == 'M' || had == 'E') {
                drop(kL3 + socket, line);
                states[{line, core}] = had;
            } else {
                l3[socket].use(line);
                states[{line, core}] = 'S';
            }
            into_l1(core, line, fetch);
        } else {
            count.l1_misses++;
            const uint64_t back = net.way_cycles(socket, home); // of the news that the request is done
            const uint64_t way = machine.l2_cycles + back;      // of the request
            const uint64_t start = std::max(now + way, busy[line]);
            const bool known = look(core, home, line);
            const int owner = owner_of(line);
            const bool alone = owner >= 0 && (state(owner, line) == 'M' || state(owner, line) == 'E');
            if (owner >= 0) {
                const uint32_t where = socket_of(owner);
                cycles = net.transfer_cycles(socket, home, where);
                (where == socket ? count.same_socket : count.other_socket)++;
            } else {
                cycles = net.memory_cycles(socket, home);
                (home == socket ? count.dram_local : count.dram_remote)++;
            }
            if (!machine.filtered()) { // memory and everybody, whoever has it
                cycles = std::max(net.memory_cycles(socket, home), last_acknowledgement(socket, home));
            }
            if (write) {
                if (machine.filtered() && known && !alone) {
                    cycles = std::max(cycles, last_acknowledgement(socket, home));
                }
                take_all(line, core);
                states[{line, core}] = 'M';
            } else if (owner >= 0) {
                char &of_owner = states[{line, static_cast<uint32_t>(owner)}];
                of_owner = of_owner == 'E' ? 'S' : of_owner == 'M' ? 'O' : of_owner;
                states[{line, core}] = 'S';
            } else {
                states[{line, core}] = known || fetch ? 'S' : 'E';
            }
            const char mine = states[{line, core}];
            const bool pipelined = !write && !alone && mine == 'S';
            const uint64_t end = start - way + cycles;
            busy[line] = pipelined ? std::min<uint64_t>(start + machine.read_busy_cycles, end + back) : end + back;
            cycles = end - now;
            into_l1(core, line, fetch);
        }
        if (write) {
            l1i[core].remove(line);
            char &mine = states[{line, core}];
            if (mine == 'E') {
                mine = 'M';
            } else if (mine != 'M') {
                count.upgrades++;
                const uint64_t back = net.way_cycles(socket, home), way = machine.l2_cycles + back;
                const uint64_t start = std::max(now + way, busy[line]);
                if (machine.filtered()) {
                    filter[home].use(homes.local(line));
                }
                take_all(line, core);
                mine = 'M';
                const uint64_t end = start - way + last_acknowledgement(socket, home);
                busy[line] = end + back;
                cycles = end - now;
            }
        }
        count.wait += cycles - machine.l1_cycles;
        return cycles;
    }

    // A store past the caches; on idle links and memory.
    uint64_t stream(uint64_t now, uint32_t core, uint32_t line)
    {
        Buffers &mine = buffers[core];
        if (mine.line == line && holders(line).empty()) {
            return machine.l1_cycles;
        }
        take_all(line, UINT32_MAX);
        forget(line);
        counts[core].writebacks++;
        const uint64_t start = std::max(now, mine.free.front());
        mine.free.pop_front();
        mine.free.push_back(start + net.memory_cycles(machine.socket_of(core), homes.home(line)) / 2);
        mine.line = line;
        counts[core].wait += start - now;
        return start - now + machine.l1_cycles;
    }

    void dma(uint32_t line, bool write)
    {
        if (write) {
            take_all(line, UINT32_MAX);
            forget(line);
            return;
        }
        const int owner = owner_of(line);
        if (owner >= 0 && state(owner, line) == 'M') {
            states[{line, static_cast<uint32_t>(owner)}] = 'O';
        }
    }

    std::vector<Holder> holders(uint32_t line) const
    {
        std::vector<Holder> all;
        for (auto at = states.lower_bound({line, 0}); at != states.end() && at->first.first == line; ++at) {
            all.push_back(at->first.second);
        }
        return all;
    }

    const Machine machine;
    const HomeMap homes;
    const Interconnect net; // for its latencies only
    std::vector<Lru> l1d, l1i, l2, l3, filter;
    std::map<std::pair<uint32_t, Holder>, char> states; // by line and holder; absent: I
    std::map<uint32_t, uint64_t> busy;
    std::vector<Counts> counts; // by core
    struct Buffers {
        uint32_t line = UINT32_MAX;
        std::list<uint64_t> free = {0, 0, 0, 0};
    };
    std::map<uint32_t, Buffers> buffers; // by core

  private:
    uint32_t socket_of(int holder) const
    {
        return static_cast<uint32_t>(holder) >= kL3 ? static_cast<uint32_t>(holder) - kL3
                                                    : machine.socket_of(static_cast<uint32_t>(holder));
    }

    int owner_of(uint32_t line) const
    {
        for (Holder holder : holders(line)) {
            if (state(holder, line) != 'S') {
                return static_cast<int>(holder);
            }
        }
        return -1;
    }

    uint64_t last_acknowledgement(uint32_t requester, uint32_t home) const
    {
        uint64_t last = 0;
        for (uint32_t socket = 0; socket < machine.sockets; socket++) {
            last = std::max(last, net.transfer_cycles(requester, home, socket));
        }
        return last;
    }

    void drop(Holder holder, uint32_t line)
    {
        states.erase({line, holder});
        if (holder >= kL3) {
            l3[holder - kL3].remove(line);
        } else {
            l1d[holder].remove(line);
            l1i[holder].remove(line);
            l2[holder].remove(line);
        }
    }

    void take_all(uint32_t line, uint32_t but)
    {
        for (Holder holder : holders(line)) {
            if (holder != but) {
                drop(holder, line);
                if (holder < kL3) {
                    counts[holder].invalidations++;
                }
            }
        }
    }

    void forget(uint32_t line)
    {
        if (machine.filtered()) {
            filter[homes.home(line)].remove(homes.local(line));
        }
    }

    bool look(uint32_t core, uint32_t home, uint32_t line)
    {
        if (!machine.filtered()) {
            return !holders(line).empty();
        }
        const uint32_t local = homes.local(line);
        if (filter[home].has(local)) {
            filter[home].use(local);
            return true;
        }
        const int64_t victim = filter[home].insert(local);
        if (victim >= 0) {
            const uint32_t lost = homes.line(home, static_cast<uint32_t>(victim));
            const int owner = owner_of(lost);
            if (owner >= 0 && state(owner, lost) != 'E') {
                counts[core].writebacks++;
            }
            take_all(lost, UINT32_MAX);
        }
        return false;
    }

    void into_l1(uint32_t core, uint32_t line, bool fetch)
    {
        const int64_t fallen = (fetch ? l1i : l1d)[core].insert(line);
        if (fallen < 0 || (fetch ? l1d : l1i)[core].has(static_cast<uint32_t>(fallen))) {
            return;
        }
        const int64_t out = l2[core].insert(static_cast<uint32_t>(fallen));
        if (out >= 0) {
            into_l3(core, static_cast<uint32_t>(out));
        }
    }

    void into_l3(uint32_t core, uint32_t line)
    {
        const uint32_t socket = machine.socket_of(core);
        const char had = state(core, line);
        states.erase({line, core});
        if (state(kL3 + socket, line) != 'I') {
            if (had == 'O') {
                states[{line, kL3 + socket}] = 'O';
            }
            return;
        }
        states[{line, kL3 + socket}] = had;
        const int64_t victim = l3[socket].insert(line);
        if (victim < 0) {
            return;
        }
        const uint32_t lost = static_cast<uint32_t>(victim);
        const char gone = state(kL3 + socket, lost);
        states.erase({lost, kL3 + socket});
        if (gone == 'M' || gone == 'O') {
            counts[core].writebacks++;
        }
        if (gone != 'S' && holders(lost).empty()) {
            forget(lost);
        }
    }
};

} // namespace mosbench::test

#endif
