// SPDX-License-Identifier: BSD-3-Clause
//
// What is taken from a gem5 that was built for MOESI_htassist (gem5-configs/protocol); see gem5_api.hh.
#ifndef MOSBENCH_GEM5_HTASSIST_HH
#define MOSBENCH_GEM5_HTASSIST_HH
#pragma GCC system_header

#include "mem/ruby/protocol/GrantMsg.hh"
#include "mem/ruby/protocol/ProbeMsg.hh"
#include "mem/ruby/protocol/ReportMsg.hh"
#include "mosbench/gem5_api.hh"

#endif
