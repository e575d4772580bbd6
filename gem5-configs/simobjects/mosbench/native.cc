// SPDX-License-Identifier: BSD-3-Clause
//
// The records code that the fast engine uses too, compiled as part of gem5. Included, so that gem5's build writes nothing into
// the folder it comes from.
#include "native/records/chains.cc"
#include "native/records/column_file.cc"
#include "native/records/records.cc"
#include "native/records/records_file.cc"
#include "native/snapshot/elf_core.cc"
