// SPDX-License-Identifier: BSD-3-Clause
//
// Who called: the walk of native/stack, which is C++20, for those that include gem5's headers, which are C++17.
#ifndef MOSBENCH_CALL_STACKS_HH
#define MOSBENCH_CALL_STACKS_HH

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace mosbench {

class CallStacks {
  public:
    // What a walk begins with. `pc` is the instruction's own.
    struct Start {
        uint64_t pc = 0, stack_pointer = 0, frame_pointer = 0;
    };
    // Eight bytes at a virtual address of the core; false where nothing is mapped.
    using Read = std::function<bool(uint64_t address, uint64_t &value)>;

    // Throws std::runtime_error: the kernel's ELF file has no call frame information.
    static std::unique_ptr<CallStacks> of_kernel(const std::string &elf);
    virtual ~CallStacks() = default;

    // Return addresses, the innermost first. Valid until the next walk.
    virtual const std::vector<uint64_t> &callers(const Start &start, const Read &read) = 0;
};

} // namespace mosbench

#endif
