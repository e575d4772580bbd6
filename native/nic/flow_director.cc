// SPDX-License-Identifier: BSD-3-Clause
#include "native/nic/flow_director.h"

#include <algorithm>

namespace mosbench::nic {

namespace {

constexpr uint32_t kBucketKey = 0x3DAD14E2, kSignatureKey = 0x174D3614; // the only ones that drivers use
constexpr uint32_t kHashBits = 0x7FFF;
constexpr uint16_t kEtherTypeIp = 0x0800;

uint32_t swap_halves(uint32_t value)
{
    return value >> 16 | value << 16;
}

// Bit n of the key takes the stream from its bit n on. The stream repeats two words, `low` for the lower half of the key; its
// very first bits are without the flow's type.
uint32_t stream_hash(uint32_t key, uint32_t first, uint32_t low, uint32_t high)
{
    uint32_t hash = 0;
    for (uint32_t n = 0; n < 16; n++) {
        hash ^= (key >> n & 1 ? (n == 0 ? first : low) >> n : 0) ^ (key >> (n + 16) & 1 ? high >> n : 0);
    }
    return hash & kHashBits;
}

uint8_t flow_type_of(const Headers &headers)
{
    return headers.protocol == kTcp ? 2 : 1;
}

// FDIRHASH, without what a driver leaves in the bits between.
uint32_t signature_of(uint32_t hash)
{
    return hash & (kHashBits << 16 | kHashBits);
}

uint32_t slot_of(uint32_t hash)
{
    return (hash ^ hash >> 13) % kSignatureSlots;
}

uint16_t reversed(uint32_t value)
{
    uint16_t result = 0;
    for (uint32_t bit = 0; bit < 16; bit++) {
        result |= static_cast<uint16_t>((value >> bit & 1) << (15 - bit));
    }
    return result;
}

uint32_t queue_of(uint32_t command)
{
    return command >> 16 & 0x7F;
}

void count(uint32_t &halves, uint32_t shift)
{
    if ((halves >> shift & 0xFFFF) != 0xFFFF) {
        halves += 1u << shift;
    }
}

} // namespace

uint32_t flow_hash(uint8_t flow_type, uint32_t source, uint32_t destination, uint16_t source_port, uint16_t destination_port)
{
    const uint32_t ports = static_cast<uint32_t>(source_port ^ kEtherTypeIp) << 16 | destination_port;
    const uint32_t common = source ^ destination ^ ports;
    const uint32_t type = static_cast<uint32_t>(flow_type) << 16; // pool and VLAN are 0
    const uint32_t high = common ^ type ^ type >> 16;
    const uint32_t first = swap_halves(common), low = first ^ type ^ type << 16;
    return stream_hash(kSignatureKey, first, low, high) << 16 | stream_hash(kBucketKey, first, low, high);
}

void FlowDirector::clear()
{
    FlowDirectorState &filters = state_.flow_director;
    filters.signatures = filters.perfects = 0;
    for (Signature &slot : filters.signature) {
        slot.used = false;
    }
}

// The memory that the filters take from the packet buffer is always as with 64 KB.
uint32_t FlowDirector::free() const
{
    if ((state_.at(reg::FDIRCTRL) & bits::FDIRCTRL_ALLOCATED) == 0) {
        return 0;
    }
    const FlowDirectorState &filters = state_.flow_director;
    return perfect() ? kPerfect - filters.perfects : kSignatures - filters.signatures;
}

void FlowDirector::write_control(uint32_t value)
{
    state_.at(reg::FDIRCTRL) = value | bits::FDIRCTRL_DONE;
    clear();
}

bool FlowDirector::write_command(uint32_t value)
{
    state_.at(reg::FDIRCMD) = value & ~(bits::FDIRCMD_COMMAND | bits::FDIRCMD_VALID);
    if (value & bits::FDIRCMD_CLEAR) {
        clear();
    }
    switch (value & bits::FDIRCMD_COMMAND) {
    case bits::FDIRCMD_ADD:
        return add(value);
    case bits::FDIRCMD_REMOVE:
        remove(value);
        break;
    case bits::FDIRCMD_QUERY:
        query(value);
        break;
    }
    return false;
}

// The slot of a filter, or the one where it would be.
Signature *FlowDirector::find(uint32_t hash, uint8_t flow_type)
{
    auto &table = state_.flow_director.signature;
    uint32_t slot = slot_of(hash);
    while (table[slot].used && (table[slot].hash != hash || table[slot].flow_type != flow_type)) {
        slot = (slot + 1) % kSignatureSlots;
    }
    return &table[slot];
}

Perfect *FlowDirector::find_perfect(uint32_t id)
{
    FlowDirectorState &filters = state_.flow_director;
    const auto end = filters.perfect.begin() + filters.perfects;
    const auto found = std::find_if(filters.perfect.begin(), end, [id](const Perfect &filter) { return filter.id == id; });
    return found == end ? nullptr : &*found;
}

bool FlowDirector::add(uint32_t command)
{
    FlowDirectorState &filters = state_.flow_director;
    const uint32_t hash = state_.at(reg::FDIRHASH);
    const uint32_t warn_at = (state_.at(reg::FDIRCTRL) >> 28) * 16;
    const uint8_t flow_type = command >> 5 & 7;
    if (perfect()) {
        Perfect *filter = find_perfect(hash);
        if (!filter && free() == 0) {
            count(state_.at(reg::FDIRFSTAT), 0);
            return true;
        }
        const bool fresh = !filter;
        filter = filter ? filter : &filters.perfect[filters.perfects++];
        *filter = {hash,   state_.at(reg::FDIRIPSA), state_.at(reg::FDIRIPDA), state_.at(reg::FDIRPORT), state_.at(reg::FDIRVLAN),
                   command};
        count(state_.at(reg::FDIRUSTAT), 0);
        return fresh && free() == warn_at;
    }
    Signature *filter = find(signature_of(hash), flow_type);
    const bool fresh = !filter->used;
    if (fresh && free() == 0) {
        count(state_.at(reg::FDIRFSTAT), 0);
        return true;
    }
    filters.signatures += fresh;
    *filter = {signature_of(hash), true, flow_type, static_cast<uint8_t>(queue_of(command))};
    count(state_.at(reg::FDIRUSTAT), 0);
    return fresh && free() == warn_at;
}

void FlowDirector::remove(uint32_t command)
{
    FlowDirectorState &filters = state_.flow_director;
    const uint32_t hash = state_.at(reg::FDIRHASH);
    if (perfect()) {
        if (Perfect *filter = find_perfect(hash)) {
            *filter = filters.perfect[--filters.perfects];
            count(state_.at(reg::FDIRUSTAT), 16);
            return;
        }
    } else if (Signature *filter = find(signature_of(hash), command >> 5 & 7); filter->used) {
        filter->used = false;
        filters.signatures--;
        // Those that stand behind it may have been put there because this slot was taken.
        auto &table = filters.signature;
        for (auto slot = static_cast<uint32_t>(filter - table.data() + 1) % kSignatureSlots; table[slot].used;
             slot = (slot + 1) % kSignatureSlots) {
            const Signature moved = table[slot];
            table[slot].used = false;
            *find(moved.hash, moved.flow_type) = moved;
        }
        count(state_.at(reg::FDIRUSTAT), 16);
        return;
    }
    count(state_.at(reg::FDIRFSTAT), 16);
}

// The answer stands in FDIRCMD.
void FlowDirector::query(uint32_t command)
{
    const uint32_t hash = state_.at(reg::FDIRHASH);
    bool there = false;
    uint32_t queue = 0;
    if (perfect()) {
        const Perfect *filter = find_perfect(hash);
        there = filter != nullptr;
        queue = filter ? queue_of(filter->command) : 0;
    } else {
        const Signature *filter = find(signature_of(hash), command >> 5 & 7);
        there = filter->used;
        queue = filter->queue;
    }
    if (there) {
        state_.at(reg::FDIRCMD) = (command & ~(bits::FDIRCMD_COMMAND | 0x7F0000)) | bits::FDIRCMD_VALID | queue << 16;
    }
}

bool FlowDirector::matches(const Perfect &filter, const Headers &headers, uint8_t flow_type) const
{
    const uint32_t masked = state_.at(reg::FDIRM); // masks: 1 is "any"
    const uint32_t port_mask = state_.at(headers.protocol == kTcp ? reg::FDIRTCPM : reg::FDIRUDPM);
    const uint32_t ports = static_cast<uint32_t>(headers.destination_port) << 16 | headers.source_port;
    const uint32_t any_port = static_cast<uint32_t>(reversed(port_mask >> 16)) << 16 | reversed(port_mask);
    return ((masked & bits::FDIRM_L4) || (filter.command >> 5 & 7) == flow_type) &&
           ((masked & bits::FDIRM_VLAN) || (filter.vlan & 0xFFF) == 0) &&
           ((filter.source ^ headers.source) & ~state_.at(reg::FDIRSIP4M)) == 0 &&
           ((filter.destination ^ headers.destination) & ~state_.at(reg::FDIRDIP4M)) == 0 &&
           ((filter.ports ^ ports) & ~any_port) == 0;
}

void FlowDirector::matched()
{
    state_.at(reg::FDIRMATCH)++;
    state_.totals.director_matches++;
}

std::optional<FlowDirector::Match> FlowDirector::match(const Headers &headers)
{
    if ((state_.at(reg::FDIRCTRL) & bits::FDIRCTRL_ALLOCATED) == 0 || !headers.ports) {
        return std::nullopt;
    }
    const uint8_t flow_type = flow_type_of(headers);
    if (perfect()) {
        for (uint32_t i = 0; i < state_.flow_director.perfects; i++) {
            const Perfect &filter = state_.flow_director.perfect[i];
            if (matches(filter, headers, flow_type)) {
                matched();
                return Match{static_cast<uint8_t>(queue_of(filter.command)), (filter.command & bits::FDIRCMD_DROP) != 0};
            }
        }
    } else {
        const uint32_t hash =
            flow_hash(flow_type, headers.source, headers.destination, headers.source_port, headers.destination_port);
        if (const Signature *filter = find(hash, flow_type); filter->used) {
            matched();
            return Match{filter->queue, false};
        }
    }
    state_.at(reg::FDIRMISS)++;
    return std::nullopt;
}

} // namespace mosbench::nic
