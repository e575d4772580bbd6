// SPDX-License-Identifier: BSD-3-Clause
//
// Walks of a made-up stack: code and call frame information are written by hand, byte by byte.
#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include "native/stack/walker.h"

namespace mosbench::test {
namespace {

using Bytes = std::vector<uint8_t>;

template <typename T> void append(Bytes &bytes, T value)
{
    const auto *first = reinterpret_cast<const uint8_t *>(&value);
    bytes.insert(bytes.end(), first, first + sizeof value);
}

void append_part(Bytes &section, uint32_t common, const Bytes &content)
{
    append(section, static_cast<uint32_t>(content.size() + 4));
    append(section, common);
    section.insert(section.end(), content.begin(), content.end());
}

// A common part as gcc writes it: the frame is at rsp + 8, the return address just below it. At offset 0.
Bytes common_part()
{
    Bytes section;
    append_part(section, UINT32_MAX, {1, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1});
    return section;
}

void append_function(Bytes &section, uint64_t start, uint64_t bytes, const Bytes &program)
{
    Bytes content;
    append(content, start);
    append(content, bytes);
    content.insert(content.end(), program.begin(), program.end());
    append_part(section, 0, content);
}

// An ELF file with nothing in it but the section.
void write_elf(const std::string &path, const Bytes &content, const std::string &name = ".debug_frame")
{
    Bytes names{0};
    names.insert(names.end(), name.begin(), name.end());
    names.push_back(0);
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = 3;
    header.e_shstrndx = 1;
    header.e_shoff = sizeof header;
    Elf64_Shdr sections[3]{};
    sections[1].sh_offset = sizeof header + sizeof sections;
    sections[1].sh_size = names.size();
    sections[2].sh_name = 1;
    sections[2].sh_offset = sections[1].sh_offset + names.size();
    sections[2].sh_size = content.size();
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char *>(&header), sizeof header);
    file.write(reinterpret_cast<const char *>(sections), sizeof sections);
    file.write(reinterpret_cast<const char *>(names.data()), static_cast<std::streamsize>(names.size()));
    file.write(reinterpret_cast<const char *>(content.data()), static_cast<std::streamsize>(content.size()));
}

class Memory : public GuestMemory {
  public:
    bool read(uint64_t address, uint64_t &value) override
    {
        value = 0;
        for (uint64_t i = 0; i < 8; i++) {
            const auto found = bytes_.find(address + i);
            if (found == bytes_.end()) {
                return false;
            }
            value |= uint64_t{found->second} << 8 * i;
        }
        return true;
    }
    void put(uint64_t address, const Bytes &bytes)
    {
        for (size_t i = 0; i < bytes.size(); i++) {
            bytes_[address + i] = bytes[i];
        }
    }
    void put_word(uint64_t address, uint64_t value)
    {
        Bytes bytes;
        append(bytes, value);
        put(address, bytes);
    }
    // A call instruction that returns there, what follows, and a word before and after that can be read.
    void call(uint64_t return_address, Bytes instruction = {0xe8, 0, 0, 0, 0}, uint8_t next = 0x90)
    {
        put(return_address - 16, Bytes(32, 0x90));
        put(return_address - instruction.size(), instruction);
        put(return_address, {next});
    }

  private:
    std::map<uint64_t, uint8_t> bytes_;
};

constexpr uint64_t kText = 0xffffffff81000000, kStack = 0xffff888000100000;

struct StackTest : testing::Test {
    const std::string path =
        testing::TempDir() + "stack-" + testing::UnitTest::GetInstance()->current_test_info()->name() + ".elf";
    Bytes section = common_part();
    Memory memory;

    ~StackTest() override { std::filesystem::remove(path); }
    std::vector<uint64_t> walk(const StackRegisters &registers)
    {
        write_elf(path, section);
        StackWalker walker(path);
        const auto callers = walker.walk(registers, memory);
        return {callers.begin(), callers.end()};
    }
};

// push %rbp (1 byte), sub $24 (4 bytes), body, and one that keeps its frame's address in rbp.
const Bytes kPushes = {0x41, 0x0e, 16, 0x86, 2, 0x44, 0x0e, 40};
const Bytes kFramed = {0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6};

TEST_F(StackTest, RulesFollowTheInstructions)
{
    append_function(section, kText, 0x100, kPushes);
    append_function(section, kText + 0x200, 0x100, {0x41, 0x0e, 16, 0x0a, 0x42, 0x0e, 8, 0x41, 0x0b});
    write_elf(path, section);
    FrameTable table(path);
    EXPECT_EQ(table.functions(), 2u);
    const auto at = [&](uint64_t pc) { return table.rule(kText + pc); };
    EXPECT_EQ(at(0).offset, 8);
    EXPECT_FALSE(at(0).frame_pointer.in_frame);
    EXPECT_EQ(at(1).offset, 16);
    EXPECT_EQ(at(4).offset, 16);
    EXPECT_EQ(at(5).offset, 40);
    EXPECT_TRUE(at(0xff).frame_pointer.in_frame);
    EXPECT_EQ(at(0xff).frame_pointer.offset, -16);
    EXPECT_EQ(at(0xff).return_address.offset, -8);
    EXPECT_EQ(at(0x100).base, FrameRule::Base::unknown); // between functions
    EXPECT_EQ(at(0x202).offset, 16);
    EXPECT_EQ(at(0x203).offset, 8);  // an early return
    EXPECT_EQ(at(0x204).offset, 16); // and the code after it
    EXPECT_EQ(at(0xfff).base, FrameRule::Base::unknown);
    EXPECT_EQ(table.rule(5).base, FrameRule::Base::unknown);
}

TEST_F(StackTest, FramesOfBothKindsAreWalked)
{
    append_function(section, kText, 0x100, {});              // a leaf
    append_function(section, kText + 0x100, 0x100, kFramed); // its caller, whose stack pointer is anywhere
    append_function(section, kText + 0x200, 0x100, kPushes);
    memory.call(kText + 0x150);
    memory.call(kText + 0x250);
    memory.call(kText + 0x1050); // nothing is known there: the chain ends
    memory.put_word(kStack, kText + 0x150);
    memory.put_word(kStack + 0x80, 0x1234); // the frame that rbp is at: saved rbp, return address
    memory.put_word(kStack + 0x88, kText + 0x250);
    memory.put_word(kStack + 0x90 + 32, kText + 0x1050);
    memory.put_word(kStack + 0x90 + 24, 0x5678);
    EXPECT_EQ(walk({kText + 8, kStack, kStack + 0x80}), (std::vector<uint64_t>{kText + 0x150, kText + 0x250, kText + 0x1050}));
}

TEST_F(StackTest, WhatFollowsNoCallIsNoReturnAddress)
{
    append_function(section, kText, 0x100, {});
    memory.call(kText + 0x150, {0x90});
    memory.put_word(kStack, kText + 0x150);
    EXPECT_TRUE(walk({kText + 8, kStack, 0}).empty());
}

TEST_F(StackTest, AssemblyWithoutInformationHasItsCallerOnTop)
{
    append_function(section, kText + 0x100, 0x100, {});
    memory.call(kText + 0x150);
    memory.put_word(kStack, kText + 0x150);
    EXPECT_EQ(walk({kText + 0x2000, kStack, 0}), std::vector<uint64_t>{kText + 0x150});
}

TEST_F(StackTest, CallsOnAnotherStackComeBack)
{
    append_function(section, kText, 0x100, {});
    append_function(section, kText + 0x100, 0x100, {});
    const uint64_t other = kStack + 0x8000;
    memory.call(kText + 0x150, {0xff, 0xd0}, 0x5c); // call *%rax; pop %rsp
    memory.call(kText + 0x1050);
    memory.put_word(other, kText + 0x150);
    memory.put_word(other + 8, kStack);
    memory.put_word(kStack, kText + 0x1050);
    EXPECT_EQ(walk({kText + 8, other, 0}), (std::vector<uint64_t>{kText + 0x150, kText + 0x1050}));
}

TEST_F(StackTest, FromASystemCallIntoTheProgram)
{
    append_function(section, kText, 0x100, {});
    memory.call(kText + 0x1050); // entry code
    memory.put_word(kStack, kText + 0x1050);
    const uint64_t saved = kStack + 8, program = 0x7ffe0000;
    memory.put_word(saved + 4 * 8, program + 0x20);
    memory.put_word(saved + 16 * 8, 0x401234);
    memory.put_word(saved + 17 * 8, 0x33);
    memory.put_word(saved + 19 * 8, program);
    memory.call(0x402000);
    memory.put_word(program + 0x20, program + 0x60);
    memory.put_word(program + 0x28, 0x402000);
    memory.put_word(program + 0x60, 0); // the outermost frame, called by nobody
    memory.put_word(program + 0x68, 0);
    EXPECT_EQ(walk({kText + 8, kStack, 0x55}), (std::vector<uint64_t>{kText + 0x1050, 0x402000}));
}

TEST_F(StackTest, AnInterruptLeadsToWhatWasInterrupted)
{
    append_function(section, kText, 0x100, {});
    append_function(section, kText + 0x100, 0x100, kPushes);
    memory.call(kText + 0x1050);
    memory.put_word(kStack, kText + 0x1050);
    const uint64_t saved = kStack + 8, interrupted = kStack + 0x200;
    memory.put_word(saved + 4 * 8, 0);
    memory.put_word(saved + 16 * 8, kText + 0x100); // at its first instruction: nothing is pushed yet
    memory.put_word(saved + 17 * 8, 0x10);
    memory.put_word(saved + 19 * 8, interrupted);
    memory.call(kText + 0x2050);
    memory.put_word(interrupted, kText + 0x2050);
    EXPECT_EQ(walk({kText + 8, kStack, 0}), (std::vector<uint64_t>{kText + 0x1050, kText + 0x2050}));
}

TEST_F(StackTest, ChainsHaveAnEnd)
{
    append_function(section, kText, 0x100, {});
    memory.call(kText + 0x50); // calls itself, for ever
    for (uint64_t i = 0; i < 100; i++) {
        memory.put_word(kStack + i * 8, kText + 0x50);
    }
    EXPECT_EQ(walk({kText + 8, kStack, 0}).size(), kMostCallers);
}

TEST_F(StackTest, ProgramsWithoutFramePointersHaveNoCallers)
{
    memory.call(0x402000, {0x90});
    memory.put_word(0x7ffe0020, 0x7ffe0060);
    memory.put_word(0x7ffe0028, 0x402000);
    EXPECT_TRUE(walk({0x401000, 0x7ffe0000, 0x7ffe0020}).empty()); // follows no call
    EXPECT_TRUE(walk({0x401000, 0x7ffe0000, 0x12345}).empty());    // some number
    EXPECT_TRUE(walk({0x401000, 0x7ffe0000, 0x7ffd0000}).empty()); // below the stack
}

TEST_F(StackTest, IndirectCallsOfEveryLength)
{
    append_function(section, kText, 0x100, {});
    for (const Bytes &call :
         {Bytes{0xff, 0xd0}, Bytes{0xff, 0x50, 0x10}, Bytes{0xff, 0x14, 0xc5}, Bytes{0xff, 0x54, 0x24, 0x08},
          Bytes{0xff, 0x15, 1, 2, 3, 4}, Bytes{0xff, 0x90, 1, 2, 3, 4}, Bytes{0xff, 0x94, 0x24, 1, 2, 3, 4}}) {
        memory.call(kText + 0x1050, call);
        memory.put_word(kStack, kText + 0x1050);
        EXPECT_EQ(walk({kText + 8, kStack, 0}).size(), 1u) << call.size();
    }
    memory.call(kText + 0x1050, {0xff, 0xe0}); // jmp *%rax
    EXPECT_TRUE(walk({kText + 8, kStack, 0}).empty());
}

TEST_F(StackTest, FilesWithoutTheInformationAreRefused)
{
    const auto refusal = [&] {
        try {
            FrameTable table(path);
        } catch (const std::runtime_error &error) {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_NE(refusal().find("cannot be read"), std::string::npos);
    write_elf(path, section, ".debug_line");
    EXPECT_NE(refusal().find("it has no section .debug_frame"), std::string::npos);
    section.pop_back();
    write_elf(path, section);
    EXPECT_NE(refusal().find("truncated"), std::string::npos);
}

} // namespace
} // namespace mosbench::test
