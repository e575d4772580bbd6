// SPDX-License-Identifier: BSD-3-Clause
//
// Everything that is taken from gem5 (v24.0), so that another version is a change of this file. Its headers are not clean under
// our warnings; the pragma makes them system headers, ours stay checked.
#ifndef MOSBENCH_GEM5_API_HH
#define MOSBENCH_GEM5_API_HH
#pragma GCC system_header

#include "arch/generic/decoder.hh"
#include "arch/x86/bios/acpi.hh"
#include "arch/x86/decoder.hh"
#include "arch/x86/interrupts.hh"
#include "arch/x86/intmessage.hh"
#include "arch/x86/regs/int.hh"
#include "arch/x86/regs/misc.hh"
#include "base/addr_range.hh"
#include "base/logging.hh"
#include "base/statistics.hh"
#include "cpu/base.hh"
#include "cpu/simple/noncaching.hh"
#include "cpu/thread_context.hh"
#include "dev/pci/device.hh"
#include "dev/x86/intdev.hh"
#include "mem/packet.hh"
#include "mem/packet_access.hh"
#include "mem/physical.hh"
#include "mem/port.hh"
#include "mem/ruby/network/Network.hh"
#include "mem/ruby/network/simple/routing/WeightBased.hh"
#include "mem/ruby/protocol/L1Cache_Entry.hh"
#include "mem/ruby/protocol/RequestMsg.hh"
#include "mem/ruby/protocol/ResponseMsg.hh"
#include "mem/ruby/structures/CacheMemory.hh"
#include "mem/ruby/system/Sequencer.hh"
#include "params/AccessHistory.hh"
#include "params/CacheWarmer.hh"
#include "params/CachingDecoder.hh"
#include "params/CoreSequencer.hh"
#include "params/LineTap.hh"
#include "params/LockTester.hh"
#include "params/MemorySnapshot.hh"
#include "params/NetworkCard.hh"
#include "params/RecordingCPU.hh"
#include "params/SocketRouting.hh"
#include "params/TesterSequencer.hh"
#include "params/X86ACPIRawTable.hh"
#include "sim/clocked_object.hh"
#include "sim/eventq.hh"
#include "sim/sim_exit.hh"
#include "sim/system.hh"

#endif
