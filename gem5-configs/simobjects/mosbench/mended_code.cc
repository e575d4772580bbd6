// SPDX-License-Identifier: BSD-3-Clause
#include "mosbench/mended_code.hh"

namespace gem5 {

namespace {

constexpr uint8_t xchg_short = 0x90;              // of the accumulator and the register in the opcode; NOP without REX.B
constexpr uint8_t xchg_bytes = 0x86, xchg = 0x87; // MOV is two further
constexpr uint8_t accumulator_and_first = 0xc0;   // ModRM: both are registers, number 0 without REX
constexpr uint8_t registers = 3;

} // namespace

void mend(X86ISA::ExtMachInst &code)
{
    if (code.opcode.type != X86ISA::OneByteOpcode || code.legacy.lock) {
        return;
    }
    const uint8_t opcode = code.opcode.op;
    if (opcode == xchg_short && code.rex.b) {
        code.opcode.op = xchg;
        code.modRM = accumulator_and_first;
    } else if ((opcode == xchg_bytes || opcode == xchg) && code.modRM.mod == registers && code.modRM.reg == code.modRM.rm &&
               code.rex.r == code.rex.b) {
        code.opcode.op = opcode + 2;
    }
}

} // namespace gem5
