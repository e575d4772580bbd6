// SPDX-License-Identifier: BSD-3-Clause
//
// Who called: the return addresses on a core's stack. Both engines have a core's registers and the guest's memory; the walk is
// here.
#ifndef MOSBENCH_NATIVE_STACK_WALKER_H
#define MOSBENCH_NATIVE_STACK_WALKER_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

#include "native/stack/frame_table.h"

namespace mosbench {

// Return addresses that are kept of a stack, from the instruction's caller outwards.
inline constexpr size_t kMostCallers = 16;

// What a walk begins with. `pc` is the instruction's own.
struct StackRegisters {
    uint64_t pc, stack_pointer, frame_pointer;
};

// The guest's memory as a core sees it, without a trace in what is simulated.
class GuestMemory {
  public:
    virtual ~GuestMemory() = default;
    // Eight bytes at a virtual address; false where nothing is mapped.
    virtual bool read(uint64_t address, uint64_t &value) = 0;
};

// In the kernel by the call frame information of its ELF file, from there into the program that called or was interrupted; in
// programs by frame pointers, where there are: what does not follow a call ends the chain.
class StackWalker {
  public:
    // Throws std::runtime_error, as FrameTable.
    explicit StackWalker(const std::string &kernel_elf) : frames_(kernel_elf) {}

    // The callers of the instruction, its own first. Valid until the next walk.
    std::span<const uint64_t> walk(const StackRegisters &registers, GuestMemory &memory);

  private:
    // The code at a return address.
    struct Place {
        bool after_call;
        bool takes_stack_back; // it goes on with `pop %rsp`: the call was made on another stack
    };

    bool full() const { return count_ == callers_.size(); }
    bool walk_kernel(StackRegisters &at, GuestMemory &memory);
    bool out_of_entry(StackRegisters &at, GuestMemory &memory) const;
    void walk_program(const StackRegisters &at, GuestMemory &memory);
    Place place(uint64_t return_address, GuestMemory &memory);
    static Place look(uint64_t return_address, GuestMemory &memory);

    FrameTable frames_;
    std::unordered_map<uint64_t, Place> places_; // of the kernel, whose code does not move
    std::array<uint64_t, kMostCallers> callers_{};
    size_t count_ = 0;
};

} // namespace mosbench

#endif
