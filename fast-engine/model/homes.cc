// SPDX-License-Identifier: GPL-2.0-or-later
#include "fast-engine/model/homes.h"

#include <algorithm>

namespace mosbench {

namespace {

constexpr uint32_t kLineBytes = 64;

} // namespace

Homes::Homes(const Machine &machine, TagMemory &tags, Counters &counters)
    : map_(machine), interconnect_(machine), dram_(machine.sockets),
      dram_service_(Server::service(kLineBytes, machine.dram_gbytes_per_second, machine.clock_ghz)), counters_(counters)
{
    for (uint32_t home = 0; home < machine.sockets && machine.filtered(); home++) {
        probe_filters_.emplace_back(machine.probe_filter, tags);
    }
}

void Homes::clear()
{
    for (ProbeFilter &filter : probe_filters_) {
        filter.clear();
    }
    interconnect_.clear();
    for (Server &dram : dram_) {
        dram.clear();
    }
}

ProbeFilter::Look Homes::look_in_probe_filter(const Request &request)
{
    const ProbeFilter::Look look = probe_filters_[request.home].look(map_.local(request.line));
    return {look.known, look.victim == kNoLine ? kNoLine : map_.line(request.home, look.victim)};
}

uint64_t Homes::ask(const Request &request, Message kind)
{
    counters_.message(request.home, request.socket, kind, kCommandBytes);
    return interconnect_.send_command(request.socket, request.home, request.moment);
}

Answer Homes::from_owner(const Request &request, uint32_t owner, bool with_all)
{
    const Source source = owner == request.socket ? Source::core_same_socket : Source::core_other_socket;
    counters_.message(request.home, request.socket, Message::data_from_core, kDataBytes);
    if (!filtered()) {
        const uint64_t asked = from_memory(request).cycles;
        const uint64_t queued = interconnect_.send_data(owner, request.socket, request.moment);
        return {std::max(asked, interconnect_.transfer_cycles(request.socket, request.home, owner) + queued), source};
    }
    uint64_t queued = interconnect_.send_data(owner, request.socket, request.moment);
    if (!with_all) {
        counters_.message(request.home, request.socket, Message::directed_probe, kCommandBytes);
        queued += interconnect_.send_command(request.home, owner, request.moment);
    }
    return {interconnect_.transfer_cycles(request.socket, request.home, owner) + queued, source};
}

Answer Homes::from_memory(const Request &request)
{
    counters_.message(request.home, request.socket, Message::data_from_memory, kDataBytes);
    const uint64_t queued = out_of_memory(request.home, request.socket, request.moment);
    const uint64_t read = interconnect_.memory_cycles(request.socket, request.home) + queued;
    return {filtered() ? read : std::max(read, broadcast(request)), memory_of(request)};
}

uint64_t Homes::broadcast(const Request &request)
{
    const uint32_t sockets = static_cast<uint32_t>(dram_.size());
    counters_.message(request.home, request.socket, Message::broadcast_probe, 2 * kCommandBytes, sockets);
    return interconnect_.broadcast(request.socket, request.home, request.moment);
}

void Homes::take_back(const Request &cause, uint32_t probes)
{
    if (!filtered()) {
        broadcast(cause);
    } else if (probes > 0) {
        counters_.message(cause.home, cause.socket, Message::back_invalidation, kCommandBytes, probes);
    }
}

void Homes::write_back(uint32_t line, uint32_t socket, uint32_t cause, const Moment &moment)
{
    const uint32_t home = of(line);
    counters_.message(home, socket, Message::writeback, kDataBytes);
    counters_.written_back(line, cause);
    to_memory(socket, home, moment);
}

uint64_t Homes::burst(const Request &request)
{
    counters_.message(request.home, request.socket, Message::writeback, kDataBytes);
    return to_memory(request.socket, request.home, request.moment);
}

void Homes::device_write(const Request &request)
{
    counters_.message(request.home, request.socket, Message::dma, kDataBytes);
    probe_for_device(request);
    to_memory(request.socket, request.home, request.moment);
}

void Homes::device_read(const Request &request)
{
    counters_.message(request.home, request.socket, Message::dma, kDataBytes);
    interconnect_.send_command(request.socket, request.home, request.moment);
    probe_for_device(request);
    out_of_memory(request.home, request.socket, request.moment);
}

void Homes::device_read(const Request &request, uint32_t owner)
{
    counters_.message(request.home, request.socket, Message::dma, kDataBytes);
    interconnect_.send_command(request.socket, request.home, request.moment);
    probe_for_device(request);
    interconnect_.send_data(owner, request.socket, request.moment);
}

void Homes::probe_for_device(const Request &request)
{
    if (!filtered()) {
        broadcast(request);
    }
}

uint64_t Homes::to_memory(uint32_t socket, uint32_t home, const Moment &moment)
{
    const uint64_t queued = interconnect_.send_data(socket, home, moment);
    return queued + (dram_[home].book(moment, dram_service_) >> 10);
}

uint64_t Homes::out_of_memory(uint32_t home, uint32_t socket, const Moment &moment)
{
    const uint64_t queued = dram_[home].book(moment, dram_service_) >> 10;
    return queued + interconnect_.send_data(home, socket, moment);
}

} // namespace mosbench
