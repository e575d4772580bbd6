// SPDX-License-Identifier: GPL-2.0-or-later
#include "fast-engine/model/caches.h"

namespace mosbench {

Caches::Caches(const Machine &machine, uint64_t lines, TagMemory &tags, const std::vector<model_filter *> &filters)
    : directory_(lines)
{
    for (uint32_t core = 0; core < machine.cores(); core++) {
        socket_of_.push_back(static_cast<uint8_t>(machine.socket_of(core)));
        cores_.emplace_back(machine, tags);
    }
    for (uint32_t socket = 0; socket < machine.sockets; socket++) {
        l3_.emplace_back(machine.l3, tags);
    }
    for (size_t core = 0; core < filters.size(); core++) {
        cores_[core].attach(filters[core]);
    }
}

size_t Caches::tags_of(const Machine &machine)
{
    const size_t core = TagMemory::tags_of(machine.l1d) + TagMemory::tags_of(machine.l1i) + TagMemory::tags_of(machine.l2);
    return core * machine.cores() + TagMemory::tags_of(machine.l3) * machine.sockets;
}

void Caches::clear()
{
    directory_.clear();
    for (PrivateCaches &core : cores_) {
        core.clear();
    }
    for (VictimArray &l3 : l3_) {
        l3.clear();
    }
}

void Caches::l3_to_core(uint32_t core, uint32_t line, Entry &entry)
{
    const uint32_t socket = socket_of_[core];
    bool found;
    if (entry.writable()) {
        found = l3_[socket].remove(line);
        entry.drop_l3(socket);
        entry.set_owner(Entry::core_as_owner(core));
    } else {
        found = l3_[socket].touch(line);
    }
    invariant(found, "what the directory says an L3 holds is in it", line);
    entry.add_core(core);
    entry.check(line);
}

uint32_t Caches::core_to_l3(uint32_t core, uint32_t line, Entry &entry)
{
    const uint32_t socket = socket_of_[core];
    invariant(entry.in_core(core), "what falls out of an L2 is the core's in the directory", line);
    entry.drop_core(core);
    if (entry.owner() == Entry::core_as_owner(core)) {
        entry.set_owner(Entry::l3_as_owner(socket));
    }
    uint32_t fallen = kNoLine;
    if (!entry.in_l3(socket)) {
        entry.add_l3(socket);
        fallen = l3_[socket].insert(line);
    }
    entry.check(line);
    return fallen;
}

uint64_t Caches::take_copies(uint32_t line, Entry &entry, uint64_t kept)
{
    const uint64_t lost = entry.cores & ~kept;
    each_bit(lost, [&](uint32_t core) { cores_[core].remove(line); });
    each_bit(entry.l3(), [&](uint32_t socket) {
        const bool found = l3_[socket].remove(line);
        invariant(found, "what the directory says an L3 holds is in it", line);
    });
    entry.cores &= kept;
    entry.set_l3(0);
    return lost;
}

void Caches::exchange(uint32_t line, Entry &entry)
{
    if (entry.exchanged()) {
        return;
    }
    entry.set_exchanged(true);
    each_bit(entry.cores, [&](uint32_t core) { cores_[core].hide(line); });
}

} // namespace mosbench
