// SPDX-License-Identifier: GPL-2.0-or-later
//
// Which node a line belongs to, and its number there.
#ifndef MOSBENCH_MODEL_HOME_H
#define MOSBENCH_MODEL_HOME_H

#include <cstdint>

#include "fast-engine/model/machine_file.h"

namespace mosbench
{

class HomeMap
{
  public:
    explicit HomeMap(const Machine &machine)
        : sockets_(machine.sockets), interleave_lines_(machine.interleave_lines), node_lines_(uint64_t{machine.node_mib} << 14)
    {
    }

    uint32_t home(uint32_t line) const { return static_cast<uint32_t>(interleave_lines_ ? line % sockets_ : line / node_lines_); }
    uint32_t local(uint32_t line) const
    {
        return static_cast<uint32_t>(interleave_lines_ ? line / sockets_ : line % node_lines_);
    }
    uint32_t line(uint32_t home, uint32_t local) const
    {
        return static_cast<uint32_t>(interleave_lines_ ? uint64_t{local} * sockets_ + home : home * node_lines_ + local);
    }
    uint64_t lines() const { return node_lines_ * sockets_; }

  private:
    uint32_t sockets_;
    bool interleave_lines_;
    uint64_t node_lines_;
};

} // namespace mosbench

#endif
