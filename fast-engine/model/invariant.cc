// SPDX-License-Identifier: GPL-2.0-or-later
#include "fast-engine/model/invariant.h"

#include <cstdio>
#include <cstdlib>

namespace mosbench {

void broken_invariant(const char *rule, uint32_t line, const std::source_location &where)
{
    std::fprintf(stderr, "coherence model: line %u: %s (%s:%u)\n", line, rule, where.file_name(),
                 static_cast<unsigned>(where.line()));
    std::abort();
}

} // namespace mosbench
