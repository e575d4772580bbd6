// SPDX-License-Identifier: BSD-3-Clause
#include "mosbench/direct_cpu.hh"

#include <cstring>

namespace gem5 {

void DirectCPU::init()
{
    NonCachingSimpleCPU::init();
    for (const memory::BackingStoreEntry &store : system->getPhysMem().getBackingStore()) {
        if (store.inAddrMap && store.pmem != nullptr) {
            memory_.push_back(store);
        }
    }
}

const uint8_t *DirectCPU::hostMemory(Addr address) const
{
    for (const memory::BackingStoreEntry &store : memory_) {
        if (store.range.contains(address)) {
            return store.pmem + (address - store.range.start());
        }
    }
    return nullptr;
}

Tick DirectCPU::sendPacket(RequestPort &port, const PacketPtr &packet)
{
    if (&port == &icachePort || hostMemory(packet->getAddr()) == nullptr) {
        return NonCachingSimpleCPU::sendPacket(port, packet);
    }
    if (history_ != nullptr) {
        history_->access(core_, lineOf(packet->getAddr()),
                         packet->isWrite() ? AccessHistory::Kind::write : AccessHistory::Kind::read);
    }
    system->getPhysMem().access(packet);
    return 0;
}

Tick DirectCPU::fetchInstMem()
{
    const Request &request = *ifetch_req;
    if (history_ != nullptr && fetched_.begins(request) && request.getPC() >> 63 == 0) {
        history_->userInstruction();
    }
    const Addr address = request.getPaddr(), line = lineOf(address);
    const uint8_t *const bytes = hostMemory(address);
    if (bytes == nullptr) {
        return NonCachingSimpleCPU::fetchInstMem();
    }
    if (history_ != nullptr && line != last_line_) {
        history_->access(core_, line, AccessHistory::Kind::fetch);
        last_line_ = line;
    }
    std::memcpy(threadInfo[curThread]->thread->decoder->moreBytesPtr(), bytes, request.getSize());
    return 0;
}

} // namespace gem5
