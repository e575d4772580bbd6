// SPDX-License-Identifier: BSD-3-Clause
//
// Hints to the host's caches. Not __builtin_prefetch: gcc 12 takes a function that does nothing but prefetch for one that does
// nothing, and leaves out the calls of it.
#ifndef MOSBENCH_NATIVE_PREFETCH_H
#define MOSBENCH_NATIVE_PREFETCH_H

namespace mosbench {

// For what is needed next: into the L1.
inline void prefetch_near(const void *place)
{
    __asm__ volatile("prefetcht0 %0" : : "m"(*static_cast<const char *>(place)));
}

// For what is needed a while later: into the L2. The L1 is too small for all that is on its way at a time, and has room for fewer
// outstanding fills.
inline void prefetch_far(const void *place)
{
    __asm__ volatile("prefetcht1 %0" : : "m"(*static_cast<const char *>(place)));
}

} // namespace mosbench

#endif
