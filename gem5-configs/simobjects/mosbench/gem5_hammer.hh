// SPDX-License-Identifier: BSD-3-Clause
//
// What is taken from a gem5 that was built for MOESI_hammer; see gem5_api.hh.
#ifndef MOSBENCH_GEM5_HAMMER_HH
#define MOSBENCH_GEM5_HAMMER_HH
#pragma GCC system_header

#include "mem/ruby/protocol/DMARequestMsg.hh"
#include "mem/ruby/protocol/DMAResponseMsg.hh"
#include "mosbench/gem5_api.hh"

#endif
