// SPDX-License-Identifier: BSD-3-Clause
//
// Where a function's caller is, at any of its instructions: the call frame information of an ELF file (section .debug_frame,
// which a compiler writes with the other debugging information). It says what frame pointers or ORC would, and costs the guest
// nothing.
#ifndef MOSBENCH_NATIVE_STACK_FRAME_TABLE_H
#define MOSBENCH_NATIVE_STACK_FRAME_TABLE_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace mosbench {

// How to find the registers of the caller. The frame's address is the stack pointer before the call had pushed anything.
struct FrameRule {
    enum class Base : uint8_t { unknown, stack_pointer, frame_pointer };
    struct Saved {
        bool in_frame = false; // at the frame's address + offset; else it is as it was
        int32_t offset = 0;
    };

    Base base = Base::unknown; // unknown: no rule for this place
    int32_t offset = 0;        // from the base to the frame's address
    Saved frame_pointer;
    Saved stack_pointer; // not saved: it is the frame's address
    Saved return_address;
};

class FrameTable {
  public:
    // Throws std::runtime_error with a sentence: there is no such file, or it is no ELF file of 64 bits with the section.
    explicit FrameTable(const std::string &elf_file);

    // The rule at an instruction, looked up once and kept.
    const FrameRule &rule(uint64_t pc);

    size_t functions() const { return functions_.size(); }

  private:
    struct Function {
        uint64_t start, end;
        size_t common;         // offset of its common part (CIE) in the section
        size_t program, after; // offsets of its own program
    };

    FrameRule find(uint64_t pc) const;

    std::vector<unsigned char> section_;
    std::vector<Function> functions_; // by start
    std::unordered_map<uint64_t, FrameRule> known_;
};

} // namespace mosbench

#endif
