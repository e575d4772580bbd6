// SPDX-License-Identifier: BSD-3-Clause
//
// The fast engine's walk, compiled as part of gem5: included, for the reason that native.cc gives.
#include "mosbench/call_stacks.hh"

#include "native/stack/frame_table.cc"
#include "native/stack/walker.cc"

namespace mosbench {

namespace {

class Walks : public CallStacks {
  public:
    explicit Walks(const std::string &elf) : walker_(elf) {}

    const std::vector<uint64_t> &callers(const Start &start, const Read &read) override
    {
        Memory memory(read);
        const auto found = walker_.walk({start.pc, start.stack_pointer, start.frame_pointer}, memory);
        callers_.assign(found.begin(), found.end());
        return callers_;
    }

  private:
    class Memory : public GuestMemory {
      public:
        explicit Memory(const Read &read) : read_(read) {}
        bool read(uint64_t address, uint64_t &value) override { return read_(address, value); }

      private:
        const Read &read_;
    };

    StackWalker walker_;
    std::vector<uint64_t> callers_;
};

} // namespace

std::unique_ptr<CallStacks> CallStacks::of_kernel(const std::string &elf)
{
    return std::make_unique<Walks>(elf);
}

} // namespace mosbench
