// SPDX-License-Identifier: BSD-3-Clause
#include "native/stack/walker.h"

namespace mosbench {

namespace {

constexpr uint64_t kMostFrameBytes = 1u << 20; // of a program; larger ones are taken for no frame
// struct pt_regs of x86-64, in words: what the kernel's entry code saves of who was interrupted or called.
constexpr uint64_t kSavedFramePointer = 4, kSavedPc = 16, kSavedSegment = 17, kSavedStackPointer = 19;
constexpr uint64_t kKernelSegment = 0x10, kUserSegment = 0x33; // Linux's, of 64-bit code

bool in_kernel(uint64_t address)
{
    return address >> 63 != 0;
}

// Whether these bytes, the last of them just before a return address, end in a call instruction.
bool ends_in_call(const uint8_t (&bytes)[8])
{
    if (bytes[3] == 0xe8) { // call rel32
        return true;
    }
    // call r/m64, `FF /2`: two to seven bytes, by the kind of operand
    const auto indirect = [&](size_t length, auto accepts) {
        const uint8_t operand = bytes[8 - length + 1];
        return bytes[8 - length] == 0xff && (operand >> 3 & 7) == 2 && accepts(operand >> 6, operand & 7);
    };
    return indirect(2, [](int mode, int base) { return mode == 3 || (mode == 0 && base != 4 && base != 5); }) ||
           indirect(3, [](int mode, int base) { return (mode == 1 && base != 4) || (mode == 0 && base == 4); }) ||
           indirect(4, [](int mode, int base) { return mode == 1 && base == 4; }) ||
           indirect(6, [](int mode, int base) { return (mode == 2 && base != 4) || (mode == 0 && base == 5); }) ||
           indirect(7, [](int mode, int base) { return (mode == 2 && base == 4) || (mode == 0 && base == 4); });
}

} // namespace

StackWalker::Place StackWalker::look(uint64_t return_address, GuestMemory &memory)
{
    uint64_t before = 0, after = 0;
    if (!memory.read(return_address - 8, before)) {
        return {};
    }
    uint8_t bytes[8];
    __builtin_memcpy(bytes, &before, sizeof bytes); // x86-64: little endian
    const bool called = ends_in_call(bytes);
    return {called, called && memory.read(return_address, after) && (after & 0xff) == 0x5c};
}

StackWalker::Place StackWalker::place(uint64_t return_address, GuestMemory &memory)
{
    if (!in_kernel(return_address)) {
        return look(return_address, memory);
    }
    const auto [known, is_new] = places_.try_emplace(return_address);
    if (is_new) {
        known->second = look(return_address, memory);
    }
    return known->second;
}

std::span<const uint64_t> StackWalker::walk(const StackRegisters &registers, GuestMemory &memory)
{
    StackRegisters at = registers;
    count_ = 0;
    while (!full() && in_kernel(at.pc) && walk_kernel(at, memory)) {
    }
    if (!in_kernel(at.pc)) {
        walk_program(at, memory);
    }
    return {callers_.data(), count_};
}

// From an instruction of the kernel to where its stack begins. True: `at` is who was interrupted there, or called the kernel.
bool StackWalker::walk_kernel(StackRegisters &at, GuestMemory &memory)
{
    bool own = true; // `at.pc` is an instruction under way, not a return address
    while (!full()) {
        const FrameRule rule = frames_.rule(own ? at.pc : at.pc - 1);
        uint64_t frame = 0, saved_at = 0;
        if (rule.base == FrameRule::Base::unknown) {
            if (out_of_entry(at, memory)) {
                return true;
            }
            if (!own) {
                return false;
            }
            frame = at.stack_pointer + 8; // assembly without a frame of its own, such as a copy
            saved_at = at.stack_pointer;
        } else {
            frame = (rule.base == FrameRule::Base::stack_pointer ? at.stack_pointer : at.frame_pointer) +
                    static_cast<uint64_t>(int64_t{rule.offset});
            if (!rule.return_address.in_frame) {
                return false;
            }
            saved_at = frame + static_cast<uint64_t>(int64_t{rule.return_address.offset});
        }
        StackRegisters caller = {0, frame, at.frame_pointer};
        const auto restore = [&](const FrameRule::Saved &saved, uint64_t &value) {
            return !saved.in_frame || memory.read(frame + static_cast<uint64_t>(int64_t{saved.offset}), value);
        };
        if (!memory.read(saved_at, caller.pc) || !restore(rule.frame_pointer, caller.frame_pointer) ||
            !restore(rule.stack_pointer, caller.stack_pointer)) {
            return false;
        }
        if (!in_kernel(caller.pc)) { // what entered the kernel, where its entry code has call frame information
            at = caller;
            return caller.pc != 0;
        }
        const Place code = place(caller.pc, memory);
        if (!code.after_call) {
            return false;
        }
        if (code.takes_stack_back && !memory.read(caller.stack_pointer, caller.stack_pointer)) {
            return false;
        }
        callers_[count_++] = caller.pc;
        at = caller;
        own = false;
    }
    return false;
}

// Entry code keeps what it entered from at the top of its stack while it calls others.
bool StackWalker::out_of_entry(StackRegisters &at, GuestMemory &memory) const
{
    const auto saved = [&](uint64_t word, uint64_t &value) { return memory.read(at.stack_pointer + word * 8, value); };
    uint64_t segment = 0;
    StackRegisters from{};
    if (!saved(kSavedSegment, segment) || !saved(kSavedPc, from.pc) || !saved(kSavedStackPointer, from.stack_pointer) ||
        !saved(kSavedFramePointer, from.frame_pointer)) {
        return false;
    }
    if (segment != (in_kernel(from.pc) ? kKernelSegment : kUserSegment) || from.pc == 0) {
        return false;
    }
    at = from;
    return true;
}

void StackWalker::walk_program(const StackRegisters &at, GuestMemory &memory)
{
    uint64_t frame = at.frame_pointer, below = at.stack_pointer;
    while (!full() && frame % 8 == 0 && frame >= below && frame - below < kMostFrameBytes) {
        uint64_t outer = 0, return_address = 0;
        if (!memory.read(frame, outer) || !memory.read(frame + 8, return_address) || return_address == 0 ||
            in_kernel(return_address) || !place(return_address, memory).after_call) {
            return;
        }
        callers_[count_++] = return_address;
        below = frame + 16;
        frame = outer;
    }
}

} // namespace mosbench
