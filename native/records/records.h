// SPDX-License-Identifier: BSD-3-Clause
//
// What an engine counts in the region of interest: per line, per line and program counter, per pair of sockets, per core, and a
// cycle profile. Knows nothing of caches: whoever sees coherence events (the fast engine's model, a tap in gem5) calls it.
//
// A line's counters are the sum over its sites plus what has no site (L2 hits, copies lost, writebacks), so that an event is
// booked once. Most lines are used by one core from one place; they have a short row, and a full one only when more is to be
// said.
#ifndef MOSBENCH_NATIVE_RECORDS_RECORDS_H
#define MOSBENCH_NATIVE_RECORDS_RECORDS_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "native/mapped_array.h"
#include "native/prefetch.h"
#include "native/records/chains.h"

namespace mosbench {

// Where an access found its line. `held`: in the core's own L1.
enum class Source : uint8_t { l3, core_same_socket, core_other_socket, dram_local, dram_remote, l2, held };
inline constexpr size_t kSourcesBeyondL2 = 5, kSources = 7;

// What a core waits for. Who asks for the right to write waits for others to give up their copies, wherever his own bytes were.
constexpr Source awaited(Source source, bool upgrade)
{
    return upgrade ? Source::held : source;
}

enum class Message : uint8_t {
    read,
    read_exclusive,
    upgrade,
    directed_probe,
    broadcast_probe, // bytes include the acknowledgements
    data_from_core,
    data_from_memory,
    writeback,
    back_invalidation,
    dma,
};
inline constexpr size_t kMessageKinds = 10;
inline constexpr size_t kMaxCores = 64;
inline constexpr size_t kMaxSockets = 8;

enum class AccessKind : uint8_t { read, write, atomic };

// Who did what where.
struct Toucher {
    uint64_t pc;
    uint64_t address; // virtual; not a line's own where `address_known` is false (a page walk)
    uint32_t line;
    uint16_t core;
    AccessKind kind;
    bool kernel;
    bool address_known;
    uint8_t size; // bytes in this line, 1 to 64
};

// What is known of a line as a whole, without its sites.
struct alignas(64) LineRow { // one cache line of the host
    uint64_t vaddr;          // first one seen, 0: none
    uint64_t cores;          // that had an event on the line
    uint64_t writers;        // that wrote it, as far as seen
    uint64_t cycles;         // waited for L2 hits
    uint32_t line;
    uint32_t l2_hits;
    uint32_t invalidations; // copies taken away from cores
    uint32_t writebacks;    // to memory
    uint32_t last_site;     // index + 1 of the site that was counted last
    uint32_t newest_site;   // index + 1 of the first in the list of its sites
    bool kernel;
    bool seen; // `kernel` and `vaddr` are from an access
};

struct CardRow { // lines that the network card read and wrote
    uint32_t reads, writes;
};

struct HitRow { // only kept when every access is counted
    uint32_t reads, writes, atomics;
};

struct alignas(64) SiteRow { // one cache line of the host, so the program counter has no more bits than an x86-64 has
    uint64_t cycles;
    uint64_t cores;      // that made the accesses
    int64_t pc : 51;     // virtual addresses have 48 bits and their sign
    uint64_t offset : 6; // byte in the line of the first access
    uint64_t last : 6;   // its size - 1
    uint64_t kernel : 1;
    uint32_t line;
    uint32_t accesses;
    uint32_t writes; // of the accesses
    uint32_t upgrades;
    std::array<uint32_t, kSourcesBeyondL2> from; // by Source
    uint32_t next;                               // index + 1 of another site of the line

    uint64_t counter() const { return static_cast<uint64_t>(int64_t{pc}); }
    uint32_t size() const { return static_cast<uint32_t>(last) + 1; }
};
static_assert(sizeof(SiteRow) == 64);

// All there is to know of most lines: one core uses them, from one place of its program, and the numbers are small. What does not
// fit becomes a LineRow with its SiteRows. 16 bytes, so that a stream costs the host one of its cache lines for four of the
// guest's.
struct ShortRow {
    uint64_t cycles : 32; // of the site; the index in lines_ of a line that became a LineRow
    uint64_t place : 20;  // index + 1 of the site's program counter, 0: no site
    uint64_t core : 6;
    uint64_t offset : 6; // byte in the line of the first access, at the line and at the site
    uint64_t used : 1;   // the line has a row
    uint64_t whole : 1;  // it is a LineRow
    uint64_t touched : 1;
    uint64_t kernel : 1;
    uint64_t wrote : 1;  // the core is a writer
    uint64_t writes : 1; // so are the accesses of the site
    uint64_t remote : 1; // memory is another socket's
    uint64_t l2_hits : 14;
    uint64_t l3_hits : 9;
    uint64_t dram : 14;
    uint64_t writebacks : 10;
    uint64_t invalidations : 10;
};
static_assert(sizeof(ShortRow) == 16);

// What only the engine knows of a core in the region.
struct CoreTotals {
    uint64_t cycles = 0, instructions = 0, idle_cycles = 0;
    // Of the cycles: of instructions, of L1 hits beyond that, in PAUSE, and waiting for the network card.
    uint64_t instruction_cycles = 0, l1_cycles = 0, pause_cycles = 0, card_cycles = 0;
};

struct CoreRow {
    CoreTotals totals;
    uint64_t l1_misses, l2_hits;
    std::array<uint64_t, kSourcesBeyondL2> from;
    uint64_t upgrades;
    uint64_t invalidations;               // copies that others took away from this core
    uint64_t writebacks;                  // to memory, caused by this core's requests
    std::array<uint64_t, kSources> waits; // cycles beyond L1 hits, by what for; Source::held: the right to write

    uint64_t wait_cycles() const { return std::accumulate(waits.begin(), waits.end(), uint64_t{0}); }
};

struct Traffic {
    uint64_t messages, bytes;
};

// Rows that never move. Address space is taken for all there can be, memory for those there are.
template <typename T> class Rows {
  public:
    explicit Rows(size_t most) : rows_(most, true) {}

    T &operator[](uint32_t index) { return rows_[index]; }
    const T &operator[](uint32_t index) const { return rows_[index]; }
    uint32_t size() const { return size_; }
    bool full() const { return size_ == rows_.size(); }
    // A row of zeros; returns its index.
    uint32_t add() { return size_++; }
    void clear()
    {
        rows_.clear();
        size_ = 0;
    }

  private:
    MappedArray<T> rows_;
    uint32_t size_ = 0;
};

class Records {
  public:
    Records(size_t lines, uint32_t sockets, uint32_t cores, bool count_hits);

    void clear();

    // Of a site's transfers and upgrades, at which of them event() says so: each n-th, from number `first` on; 0: at none.
    void follow_calls(uint32_t period, uint32_t first = 0)
    {
        chain_period_ = period;
        first_chain_ = period == 0 ? 0 : first % period;
    }

    // An access that missed L1 or needed an upgrade, and the cycles it waited beyond an L1 hit, of them `away` of which the
    // core's counters know already. True: who called is to be found out, and told to chains().
    bool event(const Toucher &who, Source source, bool upgrade, uint64_t cycles, uint64_t away = 0);
    // A core waits for its turn at a busy line, and for what it will be then, as far as can be foreseen.
    void sent_away(uint32_t core, Source source, uint64_t cycles) { cores_[core].waits[static_cast<size_t>(source)] += cycles; }
    // A store that made a clean exclusive line dirty: no event, but the core is a writer.
    void first_write(const Toucher &who);
    // An access that finds its line in the L1 and waits for earlier stores of its core, or for what the line still comes from.
    void held_up(const Toucher &who, Source source, uint64_t cycles);
    // The first store to a line past the caches, which writes it to `memory`; the cycles it waited for a free buffer.
    void streamed(const Toucher &who, Source memory, uint64_t cycles);
    // With count_hits, for every access, before event(); `beyond_l2`: event() will count it at its site.
    void counted_access(const Toucher &who, bool beyond_l2);
    void copy_lost(uint32_t line, uint32_t core);
    void written_back(uint32_t line, uint32_t core);
    void written_back_by_device(uint32_t line);
    // The network card read or wrote the line.
    void by_card(uint32_t line, bool write)
    {
        row_of(line);
        CardRow &row = card_[line];
        (write ? row.writes : row.reads)++;
    }
    void message(uint32_t home, uint32_t requester, Message kind, uint32_t bytes, uint32_t messages = 1)
    {
        Traffic &traffic = matrix_[home][requester][static_cast<size_t>(kind)];
        traffic.messages += messages;
        traffic.bytes += static_cast<uint64_t>(messages) * bytes;
    }
    void sample(uint16_t core, uint64_t pc, bool kernel, uint32_t periods)
    {
        LastSample &last = last_samples_[core][(pc ^ pc >> 3) % kLastSamples];
        if (last.pc != pc || last.kernel != kernel) {
            if (last.periods != 0) {
                samples_[{core, last.pc, last.kernel}] += last.periods;
            }
            last = {pc, 0, kernel};
        }
        last.periods += periods;
    }
    void core_totals(uint16_t core, const CoreTotals &totals) { cores_[core].totals = totals; }

    // Bring what event() will look at into the host's cache, each step a while after the one before.
    void prefetch_line(uint32_t line) const { prefetch_far(rows_.data() + line); }
    void prefetch_row(uint32_t line) const
    {
        if (rows_[line].whole) {
            prefetch_far(&lines_[static_cast<uint32_t>(rows_[line].cycles)]);
        }
    }
    void prefetch_site(uint32_t line) const
    {
        if (rows_[line].whole) {
            if (const uint32_t site = lines_[static_cast<uint32_t>(rows_[line].cycles)].last_site; site != 0) {
                prefetch_far(&sites_[site - 1]);
            }
        }
    }

    Chains &chains() { return chains_; }
    const Chains &chains() const { return chains_; }

    using SampleKey = std::tuple<uint16_t, uint64_t, bool>; // core, pc, kernel
    // Numbers of the lines that have a row, ascending.
    std::vector<uint32_t> lines() const;
    // The row of a line that has one.
    LineRow line(uint32_t line) const;
    const HitRow &hits(uint32_t line) const { return hits_[static_cast<uint32_t>(rows_[line].cycles)]; }
    const CardRow &of_card(uint32_t line) const { return card_[line]; }
    // Calls visit(row, index) for each of its sites, in no particular order.
    template <typename Visit> void each_site(uint32_t line, Visit visit) const
    {
        const ShortRow &row = rows_[line];
        if (!row.whole) {
            if (row.place != 0) {
                visit(short_site(line), 0u);
            }
            return;
        }
        for (uint32_t index = lines_[static_cast<uint32_t>(row.cycles)].newest_site; index != 0; index = sites_[index - 1].next) {
            visit(sites_[index - 1], index);
        }
    }
    // The one with that index.
    SiteRow site(uint32_t line, uint32_t index) const { return index == 0 ? short_site(line) : sites_[index - 1]; }
    const CoreRow &core(uint32_t core) const { return cores_[core]; }
    const Traffic &traffic(uint32_t home, uint32_t requester, size_t kind) const { return matrix_[home][requester][kind]; }
    std::map<SampleKey, uint32_t> samples() const;
    uint32_t socket_count() const { return sockets_; }
    uint32_t core_count() const { return static_cast<uint32_t>(cores_.size()); }
    bool counts_hits() const { return count_hits_; }

  private:
    // A page of lines.
    struct Group {
        uint64_t page : 52; // virtual page number of its short rows
        uint64_t paged : 1;
        uint64_t listed : 1; // in groups_
    };
    static constexpr uint32_t kGroupLines = 64;
    struct Place {
        uint64_t pc;
        bool kernel;
        uint8_t size; // of the accesses that short rows count
    };

    ShortRow &row_of(uint32_t line);
    bool touch_short(ShortRow &row, const Toucher &who);
    bool event_short(ShortRow &row, const Toucher &who, Source source, uint64_t cycles);
    static bool is_at(const Place &place, const Toucher &who);
    uint32_t place_of(const Toucher &who);
    SiteRow short_site(uint32_t line) const;
    LineRow &whole(ShortRow &row, uint32_t line);
    LineRow &touch(const Toucher &who);
    SiteRow &site_row(LineRow &row, const Toucher &who);
    SiteRow &add_site(LineRow &row, const SiteRow &site, size_t slot, uint64_t hash);
    size_t free_slot(uint64_t hash, uint32_t line) const;
    void grow_sites();

    // Neighbouring lines of one instruction have neighbouring slots, so that streams stay in the host's cache; who finds his slot
    // taken goes on among the next neighbours. That step is odd: an even one comes by some of the slots only, and never ends
    // once lines of the same place, such as the starts of aligned objects, have filled those.
    static constexpr uint32_t kNeighbours = 16;
    static uint64_t hash(uint32_t line, uint64_t pc)
    {
        uint64_t key = (pc ^ static_cast<uint64_t>(line / kNeighbours) << 40 ^ line / kNeighbours) * 0x9E3779B97F4A7C15u;
        key = (key ^ key >> 32) * 0xD6E8FEB86659FD93u;
        return key ^ key >> 32;
    }
    size_t first_slot(uint32_t line, uint64_t hash) const
    {
        return (hash * kNeighbours + line % kNeighbours) & (site_slots_.size() - 1);
    }
    size_t next_slot(size_t slot) const { return (slot + kNeighbours + 1) & (site_slots_.size() - 1); }

    // A slot holds index + 1 (0: free) and some bits of the hash, which tell most strangers without a look at their row.
    static constexpr uint32_t kIndexBits = 27;
    static constexpr size_t kMostSites = (size_t{1} << kIndexBits) - 1;
    static uint32_t slot_value(uint32_t index, uint64_t hash)
    {
        return (index + 1) | static_cast<uint32_t>(hash >> 59) << kIndexBits;
    }
    static uint32_t index_of(uint32_t slot_value) { return (slot_value & ((1u << kIndexBits) - 1)) - 1; }

    uint32_t sockets_;
    bool count_hits_;
    uint32_t chain_period_ = 0, first_chain_ = 0;
    Chains chains_;
    MappedArray<ShortRow> rows_;   // by line
    MappedArray<CardRow> card_;    // by line
    MappedArray<Group> group_of_;  // by line / kGroupLines
    std::vector<uint32_t> groups_; // that have rows
    std::vector<Place> places_;
    std::unordered_map<uint64_t, uint32_t> place_of_pc_; // by pc * 2 + kernel: index + 1
    std::array<uint32_t, kMaxCores> last_place_{};       // by core
    uint64_t l2_wait_ = kNever;                          // of the L2 hits that short rows count
    static constexpr uint64_t kNever = UINT64_MAX;
    Rows<LineRow> lines_;
    Rows<HitRow> hits_; // parallel to lines_
    Rows<SiteRow> sites_;
    MappedArray<uint32_t> site_slots_; // open addressing
    std::vector<CoreRow> cores_;
    std::array<std::array<std::array<Traffic, kMessageKinds>, kMaxSockets>, kMaxSockets> matrix_{};
    std::map<SampleKey, uint32_t> samples_;
    // Not yet in samples_: a core is mostly found where it was found before.
    struct LastSample {
        uint64_t pc = 0;
        uint32_t periods = 0;
        bool kernel = false;
    };
    static constexpr size_t kLastSamples = 4;
    std::array<std::array<LastSample, kLastSamples>, kMaxCores> last_samples_{};
};

} // namespace mosbench

#endif
