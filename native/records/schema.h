// SPDX-License-Identifier: BSD-3-Clause
//
// Tables and columns of the records file. Written from schema.toml by `./run.py generate`: change that, not this.
// clang-format off
#ifndef MOSBENCH_NATIVE_RECORDS_SCHEMA_H
#define MOSBENCH_NATIVE_RECORDS_SCHEMA_H

#include "native/records/column.h"

namespace mosbench::schema {

inline constexpr char kMagic[] = "MOSBENCHREC5\n";

// One row per 64-byte physical line that was touched beyond an L1 hit.
namespace lines {
inline constexpr Column<uint64_t> paddr{"lines", "paddr"};
inline constexpr Column<uint64_t> vaddr{"lines", "vaddr"};
inline constexpr Column<uint8_t> kernel{"lines", "kernel"};
inline constexpr Column<uint32_t> reads{"lines", "reads"};
inline constexpr Column<uint32_t> writes{"lines", "writes"};
inline constexpr Column<uint32_t> atomics{"lines", "atomics"};
inline constexpr Column<uint32_t> l1_misses{"lines", "l1_misses"};
inline constexpr Column<uint32_t> l2_hits{"lines", "l2_hits"};
inline constexpr Column<uint32_t> l3_hits{"lines", "l3_hits"};
inline constexpr Column<uint32_t> transfers_same_socket{"lines", "transfers_same_socket"};
inline constexpr Column<uint32_t> transfers_other_socket{"lines", "transfers_other_socket"};
inline constexpr Column<uint32_t> dram_local{"lines", "dram_local"};
inline constexpr Column<uint32_t> dram_remote{"lines", "dram_remote"};
inline constexpr Column<uint32_t> upgrades{"lines", "upgrades"};
inline constexpr Column<uint32_t> invalidations{"lines", "invalidations"};
inline constexpr Column<uint32_t> writebacks{"lines", "writebacks"};
inline constexpr Column<uint64_t> cycles{"lines", "cycles"};
inline constexpr Column<uint64_t> cores{"lines", "cores"};
inline constexpr Column<uint64_t> writers{"lines", "writers"};
inline constexpr Column<uint32_t> card_reads{"lines", "card_reads"};
inline constexpr Column<uint32_t> card_writes{"lines", "card_writes"};
inline constexpr ColumnSchema columns[] = {
    {"paddr", "u64", false},
    {"vaddr", "u64", false},
    {"kernel", "u8", false},
    {"reads", "u32", true},
    {"writes", "u32", true},
    {"atomics", "u32", true},
    {"l1_misses", "u32", false},
    {"l2_hits", "u32", false},
    {"l3_hits", "u32", true},
    {"transfers_same_socket", "u32", false},
    {"transfers_other_socket", "u32", false},
    {"dram_local", "u32", false},
    {"dram_remote", "u32", false},
    {"upgrades", "u32", false},
    {"invalidations", "u32", false},
    {"writebacks", "u32", false},
    {"cycles", "u64", false},
    {"cores", "u64", false},
    {"writers", "u64", false},
    {"card_reads", "u32", true},
    {"card_writes", "u32", true},
};
inline constexpr TableSchema table{"lines", columns};
} // namespace lines

// One row per line and instruction, of accesses served beyond the L2 and of upgrades.
namespace sites {
inline constexpr Column<uint64_t> paddr{"sites", "paddr"};
inline constexpr Column<uint64_t> pc{"sites", "pc"};
inline constexpr Column<uint8_t> kernel{"sites", "kernel"};
inline constexpr Column<uint8_t> offset{"sites", "offset"};
inline constexpr Column<uint8_t> size{"sites", "size"};
inline constexpr Column<uint64_t> cores{"sites", "cores"};
inline constexpr Column<uint32_t> accesses{"sites", "accesses"};
inline constexpr Column<uint32_t> writes{"sites", "writes"};
inline constexpr Column<uint32_t> l3_hits{"sites", "l3_hits"};
inline constexpr Column<uint32_t> transfers_same_socket{"sites", "transfers_same_socket"};
inline constexpr Column<uint32_t> transfers_other_socket{"sites", "transfers_other_socket"};
inline constexpr Column<uint32_t> dram_local{"sites", "dram_local"};
inline constexpr Column<uint32_t> dram_remote{"sites", "dram_remote"};
inline constexpr Column<uint32_t> upgrades{"sites", "upgrades"};
inline constexpr Column<uint64_t> cycles{"sites", "cycles"};
inline constexpr ColumnSchema columns[] = {
    {"paddr", "u64", false},
    {"pc", "u64", false},
    {"kernel", "u8", false},
    {"offset", "u8", false},
    {"size", "u8", false},
    {"cores", "u64", false},
    {"accesses", "u32", false},
    {"writes", "u32", false},
    {"l3_hits", "u32", true},
    {"transfers_same_socket", "u32", false},
    {"transfers_other_socket", "u32", false},
    {"dram_local", "u32", false},
    {"dram_remote", "u32", false},
    {"upgrades", "u32", false},
    {"cycles", "u64", false},
};
inline constexpr TableSchema table{"sites", columns};
} // namespace sites

// One row per home socket, requesting socket and kind of message.
namespace matrix {
inline constexpr Column<uint16_t> home{"matrix", "home"};
inline constexpr Column<uint16_t> requester{"matrix", "requester"};
inline constexpr Column<uint8_t> kind{"matrix", "kind"};
inline constexpr Column<uint64_t> messages{"matrix", "messages"};
inline constexpr Column<uint64_t> bytes{"matrix", "bytes"};
inline constexpr ColumnSchema columns[] = {
    {"home", "u16", false},
    {"requester", "u16", false},
    {"kind", "u8", false},
    {"messages", "u64", false},
    {"bytes", "u64", false},
};
inline constexpr TableSchema table{"matrix", columns};
inline constexpr const char *kind_values[] = {
    "read",
    "write",
    "upgrade",
    "directed probe",
    "broadcast probe",
    "data from core",
    "data from memory",
    "writeback",
    "back-invalidation",
    "DMA",
};
} // namespace matrix

// One row per core of the machine; those that are not in use have zeros.
namespace cores {
inline constexpr Column<uint16_t> core{"cores", "core"};
inline constexpr Column<uint64_t> cycles{"cores", "cycles"};
inline constexpr Column<uint64_t> instructions{"cores", "instructions"};
inline constexpr Column<uint64_t> instruction_cycles{"cores", "instruction_cycles"};
inline constexpr Column<uint64_t> pause_cycles{"cores", "pause_cycles"};
inline constexpr Column<uint64_t> l1_cycles{"cores", "l1_cycles"};
inline constexpr Column<uint64_t> l2_cycles{"cores", "l2_cycles"};
inline constexpr Column<uint64_t> l3_cycles{"cores", "l3_cycles"};
inline constexpr Column<uint64_t> same_socket_cycles{"cores", "same_socket_cycles"};
inline constexpr Column<uint64_t> other_socket_cycles{"cores", "other_socket_cycles"};
inline constexpr Column<uint64_t> dram_local_cycles{"cores", "dram_local_cycles"};
inline constexpr Column<uint64_t> dram_remote_cycles{"cores", "dram_remote_cycles"};
inline constexpr Column<uint64_t> upgrade_cycles{"cores", "upgrade_cycles"};
inline constexpr Column<uint64_t> card_cycles{"cores", "card_cycles"};
inline constexpr Column<uint64_t> idle_cycles{"cores", "idle_cycles"};
inline constexpr Column<uint64_t> l1_misses{"cores", "l1_misses"};
inline constexpr Column<uint64_t> l2_hits{"cores", "l2_hits"};
inline constexpr Column<uint64_t> l3_hits{"cores", "l3_hits"};
inline constexpr Column<uint64_t> transfers_same_socket{"cores", "transfers_same_socket"};
inline constexpr Column<uint64_t> transfers_other_socket{"cores", "transfers_other_socket"};
inline constexpr Column<uint64_t> dram_local{"cores", "dram_local"};
inline constexpr Column<uint64_t> dram_remote{"cores", "dram_remote"};
inline constexpr Column<uint64_t> upgrades{"cores", "upgrades"};
inline constexpr Column<uint64_t> invalidations{"cores", "invalidations"};
inline constexpr Column<uint64_t> writebacks{"cores", "writebacks"};
inline constexpr ColumnSchema columns[] = {
    {"core", "u16", false},
    {"cycles", "u64", false},
    {"instructions", "u64", false},
    {"instruction_cycles", "u64", true},
    {"pause_cycles", "u64", true},
    {"l1_cycles", "u64", true},
    {"l2_cycles", "u64", false},
    {"l3_cycles", "u64", true},
    {"same_socket_cycles", "u64", false},
    {"other_socket_cycles", "u64", false},
    {"dram_local_cycles", "u64", false},
    {"dram_remote_cycles", "u64", false},
    {"upgrade_cycles", "u64", false},
    {"card_cycles", "u64", true},
    {"idle_cycles", "u64", false},
    {"l1_misses", "u64", false},
    {"l2_hits", "u64", false},
    {"l3_hits", "u64", true},
    {"transfers_same_socket", "u64", false},
    {"transfers_other_socket", "u64", false},
    {"dram_local", "u64", false},
    {"dram_remote", "u64", false},
    {"upgrades", "u64", false},
    {"invalidations", "u64", false},
    {"writebacks", "u64", false},
};
inline constexpr TableSchema table{"cores", columns};
} // namespace cores

// One row per core and instruction found there by sampling: once each `sample_period_cycles` of busy time.
namespace samples {
inline constexpr Column<uint16_t> core{"samples", "core"};
inline constexpr Column<uint64_t> pc{"samples", "pc"};
inline constexpr Column<uint8_t> kernel{"samples", "kernel"};
inline constexpr Column<uint32_t> count{"samples", "count"};
inline constexpr ColumnSchema columns[] = {
    {"core", "u16", false},
    {"pc", "u64", false},
    {"kernel", "u8", false},
    {"count", "u32", false},
};
inline constexpr TableSchema table{"samples", columns};
} // namespace samples

// One row per place of a call below which something was seen; its own caller is another row.
namespace callers {
inline constexpr Column<uint32_t> caller{"callers", "caller"};
inline constexpr Column<uint32_t> parent{"callers", "parent"};
inline constexpr Column<uint64_t> address{"callers", "address"};
inline constexpr Column<uint8_t> kernel{"callers", "kernel"};
inline constexpr ColumnSchema columns[] = {
    {"caller", "u32", false},
    {"parent", "u32", false},
    {"address", "u64", false},
    {"kernel", "u8", false},
};
inline constexpr TableSchema table{"callers", columns};
} // namespace callers

// One row per line, instruction and who called it, of the 100 lines that cost most.
namespace site_callers {
inline constexpr Column<uint64_t> paddr{"site-callers", "paddr"};
inline constexpr Column<uint64_t> pc{"site-callers", "pc"};
inline constexpr Column<uint32_t> caller{"site-callers", "caller"};
inline constexpr Column<uint32_t> walks{"site-callers", "walks"};
inline constexpr Column<uint64_t> cycles{"site-callers", "cycles"};
inline constexpr ColumnSchema columns[] = {
    {"paddr", "u64", false},
    {"pc", "u64", false},
    {"caller", "u32", false},
    {"walks", "u32", false},
    {"cycles", "u64", false},
};
inline constexpr TableSchema table{"site-callers", columns};
} // namespace site_callers

// One row per instruction found by sampling and who called it, of each 11th sample.
namespace sample_callers {
inline constexpr Column<uint64_t> pc{"sample-callers", "pc"};
inline constexpr Column<uint8_t> kernel{"sample-callers", "kernel"};
inline constexpr Column<uint32_t> caller{"sample-callers", "caller"};
inline constexpr Column<uint32_t> count{"sample-callers", "count"};
inline constexpr ColumnSchema columns[] = {
    {"pc", "u64", false},
    {"kernel", "u8", false},
    {"caller", "u32", false},
    {"count", "u32", false},
};
inline constexpr TableSchema table{"sample-callers", columns};
} // namespace sample_callers

} // namespace mosbench::schema

#endif
