// SPDX-License-Identifier: BSD-3-Clause
//
// What the card asks of the engine that it is part of.
#ifndef MOSBENCH_NATIVE_NIC_HOST_H
#define MOSBENCH_NATIVE_NIC_HOST_H

#include <cstdint>
#include <span>

namespace mosbench::nic {

inline constexpr uint64_t kNever = UINT64_MAX;

// Each DMA is answered once by Card::dma_done with its token, in the call itself or later, in any order. It is not answered after
// Card::load, but for those that were under way when the loaded state was saved.
class Host {
  public:
    virtual ~Host() = default;

    virtual uint64_t now_ns() const = 0;
    // Call Card::wake then, in place of any time named before; kNever: not at all.
    virtual void call_me_at(uint64_t ns) = 0;
    virtual void dma_read(uint64_t address, uint32_t bytes, uint32_t token) = 0;
    // `data` is the caller's again when the call returns.
    virtual void dma_write(uint64_t address, std::span<const uint8_t> data, uint32_t token) = 0;
    // A message-signalled interrupt.
    virtual void message(uint64_t address, uint32_t data) = 0;
    // A frame without its check sequence; its first bit is on the wire at `ns`, not before now.
    virtual void frame_out(std::span<const uint8_t> frame, uint64_t ns) = 0;
};

} // namespace mosbench::nic

#endif
