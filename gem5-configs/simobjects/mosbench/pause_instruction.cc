// SPDX-License-Identifier: BSD-3-Clause
#include "mosbench/pause_instruction.hh"

#include <memory>

namespace gem5 {

namespace {

constexpr uint8_t opcode = 0x90;

// The processor goes on behind the instruction.
class Waited : public SyscallRetryFault {
  public:
    FaultName name() const override { return "pause"; }

    void invoke(ThreadContext *thread, const StaticInstPtr &instruction) override { instruction->advancePC(thread); }
};

} // namespace

bool PauseInstruction::is(const X86ISA::ExtMachInst &code)
{
    // With REX.B it is XCHG of two registers.
    return code.opcode.type == X86ISA::OneByteOpcode && uint8_t(code.opcode.op) == opcode && code.legacy.rep && !code.rex.b;
}

Fault PauseInstruction::execute(ExecContext *context, trace::InstRecord *) const
{
    static const Fault waited = std::make_shared<Waited>();
    // In-order processors count only what ends without a fault.
    if (auto *const in_order = dynamic_cast<SimpleExecContext *>(context)) {
        in_order->numInst++;
        in_order->numOp++;
    }
    return waited;
}

std::string PauseInstruction::generateDisassembly(Addr, const loader::SymbolTable *) const
{
    return mnemonic;
}

} // namespace gem5
