// SPDX-License-Identifier: GPL-2.0-or-later
//
// Which node a line belongs to, and its number there.
#ifndef MOSBENCH_MODEL_HOME_MAP_H
#define MOSBENCH_MODEL_HOME_MAP_H

#include <cstdint>
#include <vector>

#include "fast-engine/model/machine_file.h"

namespace mosbench {

class HomeMap {
  public:
    explicit HomeMap(const Machine &machine)
        : sockets_(machine.sockets), interleave_lines_(machine.interleave_lines), node_lines_(uint64_t{machine.node_mib} << 14)
    {
        for (uint32_t mib = 0; mib < machine.node_mib * machine.sockets; mib++) {
            node_of_mib_.push_back(static_cast<uint8_t>(mib / machine.node_mib));
        }
    }

    uint32_t home(uint32_t line) const { return interleave_lines_ ? line % sockets_ : node_of_mib_[line >> 14]; }
    uint32_t local(uint32_t line) const
    {
        return static_cast<uint32_t>(interleave_lines_ ? line / sockets_ : line - node_of_mib_[line >> 14] * node_lines_);
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
    std::vector<uint8_t> node_of_mib_; // a division less per look
};

} // namespace mosbench

#endif
