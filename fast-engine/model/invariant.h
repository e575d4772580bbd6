// SPDX-License-Identifier: GPL-2.0-or-later
//
// What must hold after each step of the protocol, whatever the guest does. Checked in every build: a model that has broken one of
// its own rules gives no result.
#ifndef MOSBENCH_MODEL_INVARIANT_H
#define MOSBENCH_MODEL_INVARIANT_H

#include <cstdint>
#include <source_location>

namespace mosbench {

// Says which rule is broken, for which line of guest memory and where in the source, and ends the program.
[[noreturn, gnu::cold]] void broken_invariant(const char *rule, uint32_t line, const std::source_location &where);

inline void invariant(bool holds, const char *rule, uint32_t line,
                      const std::source_location where = std::source_location::current())
{
    if (!holds) [[unlikely]] {
        broken_invariant(rule, line, where);
    }
}

} // namespace mosbench

#endif
