// SPDX-License-Identifier: GPL-2.0-or-later
#include "fast-engine/model/interconnect.h"

#include <algorithm>

namespace mosbench {

Interconnect::Interconnect(const Machine &machine)
    : sockets_(machine.sockets),
      command_service_(Server::service(kCommandBytes, machine.link_gbytes_per_second, machine.clock_ghz)),
      data_service_(Server::service(kDataBytes, machine.link_gbytes_per_second, machine.clock_ghz)), hops_(machine.hops),
      memory_cycles_(machine.memory_cycles), links_(machine.links.size() * 2)
{
    std::vector<std::vector<uint32_t>> neighbours(sockets_);
    BySocket<BySocket<uint8_t>> link_to{};
    for (size_t i = 0; i < machine.links.size(); i++) {
        const auto [a, b] = machine.links[i];
        neighbours[a].push_back(b);
        neighbours[b].push_back(a);
        link_to[a][b] = static_cast<uint8_t>(2 * i);
        link_to[b][a] = static_cast<uint8_t>(2 * i + 1);
    }
    for (uint32_t at = 0; at < sockets_; at++) {
        std::sort(neighbours[at].begin(), neighbours[at].end());
        for (uint32_t to = 0; to < sockets_; to++) {
            // The lowest neighbour that is nearer: then the routes from a socket form a tree, and those to it as well.
            for (uint32_t neighbour : neighbours[at]) {
                if (hops_[neighbour][to] + 1 == hops_[at][to]) {
                    next_[at][to] = static_cast<uint8_t>(neighbour);
                    link_[at][to] = link_to[at][neighbour];
                    break;
                }
            }
        }
    }
    for (uint32_t requester = 0; requester < sockets_; requester++) {
        for (uint32_t home = 0; home < sockets_; home++) {
            way_cycles_[requester][home] = machine.hop_cycles * hops_[requester][home] / 2;
            for (uint32_t owner = 0; owner < sockets_; owner++) {
                // Half a round trip for each leg of request, probe and answer; half a cycle counts as one.
                const uint32_t legs = hops_[requester][home] + hops_[home][owner] + hops_[owner][requester];
                const uint32_t cycles = machine.transfer_cycles + (machine.hop_cycles * legs + 1) / 2;
                transfer_cycles_[requester][home][owner] = cycles;
                broadcast_cycles_[requester][home] = std::max(broadcast_cycles_[requester][home], cycles);
            }
        }
    }
    make_trees();
}

void Interconnect::make_trees()
{
    for (uint32_t root = 0; root < sockets_; root++) {
        std::vector<uint8_t> order;
        for (uint32_t socket = 0; socket < sockets_; socket++) {
            order.push_back(static_cast<uint8_t>(socket));
        }
        std::stable_sort(order.begin(), order.end(), [&](uint8_t a, uint8_t b) { return hops_[root][a] < hops_[root][b]; });
        order.erase(order.begin()); // the root itself
        for (uint8_t socket : order) {
            const std::vector<uint32_t> path = route(root, socket);
            const uint8_t before = static_cast<uint8_t>(path.size() > 1 ? path[path.size() - 2] : root);
            from_root_[root].push_back({socket, before, link_[before][socket], 1});
            to_root_[root].push_back({socket, next_[socket][root], link_[socket][root], 0});
        }
        for (Branch &branch : to_root_[root]) {
            for (uint8_t socket : order) {
                const std::vector<uint32_t> path = route(socket, root);
                const bool over = socket == branch.socket || std::find(path.begin(), path.end(), branch.socket) != path.end();
                branch.beyond = static_cast<uint8_t>(branch.beyond + over);
            }
        }
    }
}

std::vector<uint32_t> Interconnect::route(uint32_t from, uint32_t to) const
{
    std::vector<uint32_t> path;
    for (uint32_t at = from; at != to;) {
        at = next_[at][to];
        path.push_back(at);
    }
    return path;
}

uint64_t Interconnect::send(uint32_t from, uint32_t to, const Moment &moment, uint64_t service)
{
    uint64_t waited = 0;
    for (uint32_t at = from; at != to; at = next_[at][to]) {
        waited += links_[link_[at][to]].book(moment, service);
    }
    return waited >> 10;
}

uint64_t Interconnect::broadcast(uint32_t requester, uint32_t home, const Moment &moment)
{
    BySocket<uint64_t> probe{}, answer{}; // what they wait for links, 1/1024 cycles
    for (const Branch &branch : from_root_[home]) {
        probe[branch.socket] = probe[branch.nearer] + links_[branch.link].book(moment, command_service_);
    }
    for (const Branch &branch : to_root_[requester]) {
        answer[branch.socket] = answer[branch.nearer] + links_[branch.link].book(moment, command_service_ * branch.beyond);
    }
    uint64_t last = 0;
    for (uint32_t socket = 0; socket < sockets_; socket++) {
        last = std::max(last, transfer_cycles_[requester][home][socket] + ((probe[socket] + answer[socket]) >> 10));
    }
    return last;
}

void Interconnect::clear()
{
    for (Server &link : links_) {
        link.clear();
    }
}

} // namespace mosbench
