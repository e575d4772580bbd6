// SPDX-License-Identifier: BSD-3-Clause
//
// What an engine counts in the region of interest: per line, per line and program counter, per pair of sockets, per core, and a
// cycle profile. Knows nothing of caches: whoever sees coherence events (the fast engine's model, a tap in gem5) calls it.
//
// A line's counters are the sum over its sites plus what has no site (L2 hits, copies lost, writebacks), so that an event is
// booked once and a line that is merely passed over costs little memory.
#ifndef MOSBENCH_NATIVE_RECORDS_RECORDS_H
#define MOSBENCH_NATIVE_RECORDS_RECORDS_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "native/mapped_array.h"

namespace mosbench {

// Where an access found its line. `held`: in the core's own L1.
enum class Source : uint8_t { l3, core_same_socket, core_other_socket, dram_local, dram_remote, l2, held };
inline constexpr size_t kSourcesBeyondL2 = 5;

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
};

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
    bool kernel;
    bool seen; // `kernel` and `vaddr` are from an access
};

struct HitRow { // only kept when every access is counted
    uint32_t reads, writes, atomics;
};

struct alignas(64) SiteRow {
    uint64_t pc;
    uint64_t cycles;
    uint32_t line;
    uint32_t accesses;
    uint32_t writes; // of the accesses
    uint32_t upgrades;
    std::array<uint32_t, kSourcesBeyondL2> from; // by Source
    bool kernel;
    uint8_t offset; // byte in the line of the first access
};

struct CoreRow {
    uint64_t cycles, instructions, idle_cycles; // the engine's
    uint64_t l1_misses, l2_hits;
    std::array<uint64_t, kSourcesBeyondL2> from;
    uint64_t upgrades;
    uint64_t invalidations; // copies that others took away from this core
    uint64_t writebacks;    // to memory, caused by this core's requests
    uint64_t wait_cycles;   // beyond L1 hits
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

    // An access that missed L1 or needed an upgrade, and the cycles it waited beyond an L1 hit.
    void event(const Toucher &who, Source source, bool upgrade, uint64_t cycles);
    // A store that made a clean exclusive line dirty: no event, but the core is a writer.
    void first_write(const Toucher &who);
    // With count_hits, for every access, before event(); `beyond_l2`: event() will count it at its site.
    void counted_access(const Toucher &who, bool beyond_l2);
    void copy_lost(uint32_t line, uint32_t core);
    void written_back(uint32_t line, uint32_t core);
    void written_back_by_device(uint32_t line) { line_row(line).writebacks++; }
    void message(uint32_t home, uint32_t requester, Message kind, uint32_t bytes, uint32_t messages = 1)
    {
        Traffic &traffic = matrix_[home][requester][static_cast<size_t>(kind)];
        traffic.messages += messages;
        traffic.bytes += static_cast<uint64_t>(messages) * bytes;
    }
    void sample(uint16_t core, uint64_t pc, bool kernel, uint32_t periods) { samples_[{core, pc, kernel}] += periods; }
    void core_totals(uint16_t core, uint64_t cycles, uint64_t instructions, uint64_t idle_cycles);

    // Bring what event() will look at into the host's cache, each step a while after the one before.
    void prefetch_line(uint32_t line) const { __builtin_prefetch(row_of_line_.data() + line); }
    void prefetch_row(uint32_t line) const
    {
        if (const uint32_t index = row_of_line_[line]; index != 0) {
            __builtin_prefetch(&lines_[index - 1], 1);
        }
    }
    void prefetch_site(uint32_t line, uint64_t pc) const
    {
        if (const uint32_t index = row_of_line_[line]; index != 0 && lines_[index - 1].last_site != 0) {
            __builtin_prefetch(&sites_[lines_[index - 1].last_site - 1], 1);
        } else {
            __builtin_prefetch(&site_slots_[first_slot(line, hash(line, pc))]);
        }
    }

    using SampleKey = std::tuple<uint16_t, uint64_t, bool>; // core, pc, kernel
    const Rows<LineRow> &lines() const { return lines_; }
    const Rows<HitRow> &hits() const { return hits_; }
    const Rows<SiteRow> &sites() const { return sites_; }
    const CoreRow &core(uint32_t core) const { return cores_[core]; }
    const Traffic &traffic(uint32_t home, uint32_t requester, size_t kind) const { return matrix_[home][requester][kind]; }
    const std::map<SampleKey, uint32_t> &samples() const { return samples_; }
    uint32_t socket_count() const { return sockets_; }
    uint32_t core_count() const { return static_cast<uint32_t>(cores_.size()); }
    bool counts_hits() const { return count_hits_; }

  private:
    LineRow &line_row(uint32_t line);
    LineRow &touch(const Toucher &who);
    SiteRow &site_row(LineRow &row, const Toucher &who);
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
    MappedArray<uint32_t> row_of_line_; // index + 1, 0: none
    Rows<LineRow> lines_;
    Rows<HitRow> hits_; // parallel to lines_
    Rows<SiteRow> sites_;
    MappedArray<uint32_t> site_slots_; // open addressing
    std::vector<CoreRow> cores_;
    std::array<std::array<std::array<Traffic, kMessageKinds>, kMaxSockets>, kMaxSockets> matrix_{};
    std::map<SampleKey, uint32_t> samples_;
};

} // namespace mosbench

#endif
