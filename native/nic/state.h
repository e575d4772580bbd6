// SPDX-License-Identifier: BSD-3-Clause
//
// All that the card knows, as plain data: saving is a copy. What stands in `registers` is what a read gives, or what the model
// keeps of a write; the rest is what no register shows.
#ifndef MOSBENCH_NATIVE_NIC_STATE_H
#define MOSBENCH_NATIVE_NIC_STATE_H

#include <array>
#include <cstdint>
#include <type_traits>

#include "native/nic/host.h"
#include "native/nic/registers.h"

namespace mosbench::nic {

struct Descriptor {
    uint64_t first, second;
};
inline constexpr uint32_t kDescriptorBytes = 16;

// Descriptors of a queue that the card has read ahead; the data sheet has 40 to transmit and 32 to receive.
inline constexpr uint32_t kReadAhead = 32;

// A ring in guest memory. Positions are indices into it: `head` <= `next` <= `tail` going round.
struct Ring {
    uint32_t head;       // shown to the driver: all before it is done
    uint32_t next;       // the next one to be read
    uint32_t known_tail; // of the tail register, what the card has noticed
    uint64_t notice_ns;  // when it looks at the register again
    uint32_t cached_from, cached;
    std::array<Descriptor, kReadAhead> cache;
    uint8_t enabled, reading, broken; // broken: could not be read; until it is enabled anew
    uint8_t generation;               // counts how often it was switched on or off
};

struct TransmitContext {
    uint32_t vlan_maclen_iplen, type, mss_l4len;
};

struct TransmitQueue {
    Ring ring;
    std::array<TransmitContext, 2> contexts;
    uint32_t prelude;    // descriptors since the last packet: contexts
    uint32_t reported;   // all before it have been written back
    uint32_t unreported; // descriptors done since
    uint8_t report;      // one of them asks for it
    uint8_t assembling;  // a packet has begun and not ended: its slot + 1
    uint64_t last_report_ns;
};

// A packet that is read from guest memory. They leave in the order in which they began.
inline constexpr uint32_t kTransmissions = 16;
inline constexpr uint32_t kMaxPacket = 65536 + 1024; // headers and one IP packet, to be segmented
inline constexpr uint32_t kMaxTransmitPieces = 40;   // the data sheet's limit
struct Transmission {
    uint8_t queue;
    uint8_t generation;   // counts the packets that used this place
    uint8_t pieces;       // of its data
    uint8_t awaited;      // of these, not yet read
    uint8_t whole;        // its last descriptor is known
    uint8_t failed;       // it cannot be sent
    uint8_t abandoned;    // its queue was switched off
    uint8_t report;       // it asks for status
    uint32_t descriptors; // that it and its contexts took
    uint32_t command, options;
    TransmitContext context;
    uint32_t length;
    std::array<uint32_t, kMaxTransmitPieces> piece_at;
    std::array<uint8_t, kMaxPacket> data;
};

// A frame on its way to guest memory, written back in the order of arrival.
inline constexpr uint32_t kReceptions = 16, kMaxFrame = 9728, kMaxPieces = 10; // 1 KB each at least
struct Reception {
    uint8_t queue;
    uint8_t generation; // counts the frames that used this place
    uint8_t awaited;    // writes under way
    uint8_t failed;     // a part of it is not in memory
    uint8_t abandoned;  // its queue was switched off
    uint8_t reported;   // its descriptors are written, or on their way
    uint8_t descriptors;
    uint32_t first; // of them, index in the ring
    uint32_t bytes; // of the frame
    std::array<Descriptor, kMaxPieces> write_back;
};

inline constexpr uint32_t kFifoBytes = 512 << 10, kFifoUnit = 32, kFifoFrames = kFifoBytes / kFifoUnit;

// Where the frame at the head of the FIFO goes.
struct Choice {
    uint8_t queue;
    uint8_t drop;     // a filter says so
    uint8_t director; // Flow Director chose
    uint8_t rss_type; // as the descriptor shows it: 0 none, 1 TCP, 2 IP, 7 UDP over IPv4
    uint32_t rss_hash;
};

struct Fifo {
    uint32_t first, count; // of `lengths`
    uint32_t read, used;   // of `bytes`; each frame takes whole units
    std::array<uint16_t, kFifoFrames> lengths;
    std::array<uint8_t, kFifoBytes> bytes;
};

// Signature filters: with 64 KB of the packet buffer, 8 K - 1. Open addressing.
inline constexpr uint32_t kSignatures = 8191, kSignatureSlots = 16384;
struct Signature {
    uint32_t hash; // as in FDIRHASH
    uint8_t used, flow_type, queue;
};
inline constexpr uint32_t kPerfect = 2046; // 2 K - 2 with 64 KB
struct Perfect {
    uint32_t id; // FDIRHASH: bucket and the driver's number
    uint32_t source, destination, ports, vlan, command;
};
struct FlowDirectorState {
    uint32_t signatures, perfects;
    std::array<Signature, kSignatureSlots> signature;
    std::array<Perfect, kPerfect> perfect;
};

struct Message {
    uint32_t address_low, address_high, data, control;
};
struct InterruptState {
    uint64_t causes, due, enabled, automask; // by vector; due: since the last message
    uint32_t other_causes, other_enabled;    // bits 16 and up of EICR and EIMS
    uint8_t other_due;
    uint8_t on, all_masked; // MSI-X in configuration space
    uint8_t msi_on;         // MSI there
    uint64_t msi_address;
    uint32_t msi_data;
    uint64_t pending;
    std::array<Message, kVectors> table;
    std::array<uint64_t, kVectors> not_before_ns; // moderation
    uint64_t looked_at_ns;                        // when the card next looks at what the driver wrote, kNever: it wrote nothing
};

// Queues in use: those of this stretch of time and the one before.
struct InUse {
    uint64_t stretch, now, before;
};

// Of the whole life of the card: no read clears them.
struct Totals {
    uint64_t received_frames, received_bytes, sent_frames, sent_bytes, messages;
    uint64_t dropped_disabled, dropped_address, dropped_length, dropped_fifo, dropped_no_descriptor, dropped_filter;
    uint64_t dma_reads, dma_writes, dma_errors, bad_packets;
    uint64_t segmented_packets;             // that were sent as several frames
    uint64_t director_matches, most_queues; // pairs of queues that were on at a time
    std::array<uint64_t, kQueues> received_of_queue, sent_of_queue;
};

struct State {
    std::array<uint32_t, kRegisterBytes / 4> registers;
    std::array<Ring, kQueues> receive;
    std::array<TransmitQueue, kQueues> transmit;
    std::array<Reception, kReceptions> receptions;
    std::array<Transmission, kTransmissions> transmissions;
    uint32_t first_reception, receptions_under_way;
    uint32_t first_transmission, transmissions_under_way;
    uint64_t receive_on, transmit_on; // queues that are switched on: bit n is queue n
    uint32_t next_queue;              // to transmit from
    uint64_t receive_free_ns;         // when the next frame can be looked at
    uint64_t wire_free_ns;            // when the next frame can go
    uint8_t generation;               // of the whole card: counts resets
    InUse receive_in_use, transmit_in_use;
    Fifo fifo;
    Choice choice; // for the frame at its head
    uint8_t chosen;
    FlowDirectorState flow_director;
    InterruptState interrupts;
    Totals totals;
    uint64_t wake_ns; // what the host was told last

    uint32_t &at(uint32_t offset) { return registers[offset / 4]; }
    uint32_t at(uint32_t offset) const { return registers[offset / 4]; }
    uint32_t &queue(uint32_t offset, uint32_t n) { return at(offset + n * reg::QUEUE_STRIDE); }
    uint32_t queue(uint32_t offset, uint32_t n) const { return at(offset + n * reg::QUEUE_STRIDE); }
};
static_assert(std::is_trivially_copyable_v<State>);

} // namespace mosbench::nic

#endif
