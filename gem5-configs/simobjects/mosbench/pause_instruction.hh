// SPDX-License-Identifier: BSD-3-Clause
//
// PAUSE, which gem5 v24.0 takes for a NOP. The processor that executes this one goes on `syscallRetryLatency` cycles later: a
// parameter of all gem5's processors, which they heed where an instruction ends with a fault of this kind. With a whole system
// simulated nothing else makes such faults.
#ifndef MOSBENCH_PAUSE_INSTRUCTION_HH
#define MOSBENCH_PAUSE_INSTRUCTION_HH

#include <string>

#include "mosbench/gem5_api.hh"

namespace gem5 {

class PauseInstruction : public X86ISA::X86StaticInst {
  public:
    explicit PauseInstruction(const X86ISA::ExtMachInst &code) : X86ISA::X86StaticInst("pause", code, No_OpClass) {}

    // Whether these are the bytes of a PAUSE.
    static bool is(const X86ISA::ExtMachInst &code);

    Fault execute(ExecContext *context, trace::InstRecord *record) const override;
    std::string generateDisassembly(Addr pc, const loader::SymbolTable *symbols) const override;
};

} // namespace gem5

#endif
