// SPDX-License-Identifier: BSD-3-Clause
//
// Instructions that gem5 v24.0 executes wrong, and other encodings that mean the same and that it executes right.
#ifndef MOSBENCH_MENDED_CODE_HH
#define MOSBENCH_MENDED_CODE_HH

#include "mosbench/gem5_api.hh"

namespace gem5 {

// Puts the other encoding in place of one that would go wrong:
// - XCHG of a register with itself, which would set it to zero: a MOV;
// - XCHG of RAX with R8 in its short form, which would be a NOP: the long form.
void mend(X86ISA::ExtMachInst &code);

} // namespace gem5

#endif
