// SPDX-License-Identifier: BSD-3-Clause
//
// MOESI_htassist's messages (gem5-configs/protocol). A miss is a core's request to its socket's node and the node's grant; what
// the L3 does not have the node gets from the line's home in between. Who answered stands in the grant, but for a node that
// answered itself: then either its L3 had the line, or one of its cores, which the home had asked for it.
#include <array>
#include <unordered_map>
#include <unordered_set>

#include "mosbench/gem5_htassist.hh"
#include "mosbench/line_tap.hh"
#include "mosbench/socket_routing.hh"

namespace gem5::ruby {

using Kind = mosbench::Message; // gem5 has a Message of its own
using mosbench::Source;

namespace {

constexpr unsigned kLineShift = 6;

enum VirtualNetwork { kRequest = 0, kHomeProbe = 1, kAnswer = 2, kReport = 3, kCoreProbe = 4, kGrant = 5 };

uint32_t bytesOf(const Message &message)
{
    return Network::MessageSizeType_to_int(message.getMessageSize());
}

class HTAssist : public LineTap::Protocol {
  public:
    using Protocol::Protocol;

    void message(const Message &message, int vnet, unsigned socket) override;
    void begin() override
    {
        at_home_.clear();
        of_devices_.clear();
        bursts_.clear();
        last_victim_ = {};
        last_asker_ = {};
    }
    std::set<std::string> unknown() const override { return {}; }

  private:
    unsigned socketOf(const MachineID &machine) const;
    void request(const RequestMsg &message, unsigned socket);
    void nodeRequest(const RequestMsg &message, unsigned socket);
    void homeProbe(const ProbeMsg &message);
    void answer(const ResponseMsg &message);
    void coreProbe(const ProbeMsg &message);
    void grant(const GrantMsg &message, unsigned socket);

    // Whether a device waits for the line: what its home asks the nodes for is for the device then.
    bool forDevice(Addr address) const { return of_devices_.count(address >> kLineShift) != 0; }
    void deviceGot(uint64_t line);

    // A node's request for a line for one of its cores, from when it leaves to the grant.
    static uint64_t key(uint64_t line, const MachineID &core) { return line * mosbench::kMaxCores + core.num; }

    std::unordered_map<uint64_t, bool> at_home_;                // by `key`: whether data came from a node
    std::unordered_map<uint64_t, unsigned> of_devices_;         // by line: what devices have asked for and not got
    std::unordered_set<uint64_t> bursts_;                       // lines that cores write past their caches
    std::array<unsigned, mosbench::kMaxSockets> last_victim_{}; // of each node: the core that gave it one
    std::array<unsigned, mosbench::kMaxSockets> last_asker_{};  // of each home: the core it was asked for
};

unsigned HTAssist::socketOf(const MachineID &machine) const
{
    switch (machine.type) {
    case MachineType_L1Cache:
        return tap_.socketOf(machine.num);
    case MachineType_L3Cache:
    case MachineType_Directory:
        return machine.num;
    default:
        return tap_.socketOfDma(machine.num);
    }
}

void HTAssist::message(const Message &message, int vnet, unsigned socket)
{
    switch (vnet) {
    case kRequest: {
        const auto &asked = static_cast<const RequestMsg &>(message);
        if (socketOf(asked.getRequestor()) == socket) {
            request(asked, socket);
        }
        break;
    }
    case kHomeProbe: {
        const auto &probe = static_cast<const ProbeMsg &>(message);
        if (tap_.home(probe.getaddr()) == socket) {
            homeProbe(probe);
        }
        break;
    }
    case kAnswer: {
        const auto &answered = static_cast<const ResponseMsg &>(message);
        if (socketOf(answered.getSender()) == socket) {
            answer(answered);
        }
        break;
    }
    case kReport: {
        const auto &report = static_cast<const ReportMsg &>(message);
        const ReportType type = report.getType();
        if (type == ReportType_VICTIM_OWNED || type == ReportType_VICTIM_SHARED) {
            last_victim_[socket] = report.getSender().num;
        }
        break;
    }
    case kCoreProbe:
        coreProbe(static_cast<const ProbeMsg &>(message));
        break;
    case kGrant:
        grant(static_cast<const GrantMsg &>(message), socket);
        break;
    default:
        panic("The line tap does not know virtual network %d of this protocol.", vnet);
    }
}

void HTAssist::request(const RequestMsg &message, unsigned socket)
{
    const unsigned at = tap_.home(message.getaddr());
    const uint64_t line = message.getaddr() >> kLineShift;
    switch (message.getRequestor().type) {
    case MachineType_L1Cache: {
        const CoherenceRequestType type = message.getType();
        tap_.leaves(message.getRequestor().num, line, type == CoherenceRequestType_GETX || type == CoherenceRequestType_UPG);
        break;
    }
    case MachineType_L3Cache:
        nodeRequest(message, socket);
        break;
    default:
        if (tap_.isDevice(message.getRequestor().num)) {
            of_devices_[line]++;
            tap_.records().message(at, 0, Kind::dma, bytesOf(message));
        } else {
            bursts_.insert(line);
            tap_.records().message(at, socket, Kind::writeback, bytesOf(message));
        }
    }
}

void HTAssist::nodeRequest(const RequestMsg &message, unsigned socket)
{
    const unsigned at = tap_.home(message.getaddr());
    const uint64_t line = message.getaddr() >> kLineShift;
    Kind kind = Kind::read;
    switch (message.getType()) {
    case CoherenceRequestType_PUT:
        if (message.getDirty()) {
            tap_.records().written_back(static_cast<uint32_t>(line), tap_.coreNumber(last_victim_[socket]));
        }
        tap_.records().message(at, socket, Kind::writeback, bytesOf(message));
        return;
    case CoherenceRequestType_GETX:
        kind = Kind::read_exclusive;
        break;
    case CoherenceRequestType_UPG:
        kind = Kind::upgrade;
        break;
    default:
        break;
    }
    tap_.records().message(at, socket, kind, bytesOf(message));
    at_home_[key(line, message.getCore())] = false;
    last_asker_[at] = message.getCore().num;
}

void HTAssist::homeProbe(const ProbeMsg &message)
{
    const unsigned at = tap_.home(message.getaddr()), requester = socketOf(message.getRequestor());
    const uint32_t count = static_cast<uint32_t>(message.getDestination().count());
    if (message.getType() == ProbeType_WB_ACK) {
        tap_.records().message(at, requester, Kind::writeback, bytesOf(message), count);
        return;
    }
    if (message.getRequestor().type == MachineType_Directory) { // for a device, or the probe filter gives the line up
        const Kind kind = forDevice(message.getaddr()) ? Kind::dma : Kind::back_invalidation;
        tap_.records().message(at, at, kind, bytesOf(message), count);
    } else if (count == 1) {
        tap_.records().message(at, requester, Kind::directed_probe, bytesOf(message));
    } else { // with the answers, which have the probe's size
        tap_.records().message(at, requester, Kind::broadcast_probe, 2 * bytesOf(message), count);
    }
}

void HTAssist::answer(const ResponseMsg &message)
{
    const unsigned at = tap_.home(message.getaddr());
    const uint64_t line = message.getaddr() >> kLineShift;
    const MachineID to = message.getDestination().smallestElement();
    if (message.getType() == CoherenceResponseType_ACK) { // counted with the probes, or of a device's write
        if (to.type == MachineType_DMA) {
            if (tap_.isDevice(to.num)) {
                deviceGot(line);
            } else {
                bursts_.erase(line);
            }
        }
        return;
    }
    const bool from_node = message.getSender().type == MachineType_L3Cache;
    switch (to.type) {
    case MachineType_L3Cache: {
        tap_.records().message(at, to.num, from_node ? Kind::data_from_core : Kind::data_from_memory, bytesOf(message));
        if (const auto found = at_home_.find(key(line, message.getCore())); found != at_home_.end()) {
            found->second = found->second || from_node;
        }
        break;
    }
    case MachineType_Directory: { // of a line that a device accesses, or that the probe filter gives up
        const bool device = forDevice(message.getaddr());
        tap_.records().message(at, socketOf(message.getSender()), device ? Kind::dma : Kind::writeback, bytesOf(message));
        if (message.getDirty() && !device && bursts_.count(line) == 0) {
            tap_.records().written_back(static_cast<uint32_t>(line), tap_.coreNumber(last_asker_[at]));
        }
        break;
    }
    default:
        deviceGot(line);
        tap_.records().message(at, 0, Kind::dma, bytesOf(message));
    }
}

void HTAssist::deviceGot(uint64_t line)
{
    const auto found = of_devices_.find(line); // none: asked for before the region
    if (found != of_devices_.end() && --found->second == 0) {
        of_devices_.erase(found);
    }
}

void HTAssist::coreProbe(const ProbeMsg &message)
{
    if (message.getType() == ProbeType_READ) {
        return; // the copy stays
    }
    const NetDest &to = message.getDestination();
    tap_.copiesLost(message.getaddr(), [&](unsigned core) { return to.isElement(MachineID{MachineType_L1Cache, core}); });
}

void HTAssist::grant(const GrantMsg &message, unsigned socket)
{
    const uint64_t line = message.getaddr() >> kLineShift;
    const MachineID core = message.getDestination().smallestElement();
    if (message.getType() == GrantType_ONCE) {
        tap_.records().copy_lost(static_cast<uint32_t>(line), tap_.coreNumber(core.num)); // on its way to the core
    }
    const auto found = at_home_.find(key(line, core));
    const bool asked = found != at_home_.end();
    const bool from_node = asked && found->second;
    if (asked) {
        at_home_.erase(found);
    }
    LineTap::Access *access = tap_.outside(core.num, line, LineTap::Which::first);
    if (access == nullptr) {
        return; // began before the region
    }
    bool upgrade = message.getType() == GrantType_RIGHT;
    const MachineID source = message.getSource();
    if (upgrade) {
        access->source = Source::held;
    } else if (source.type == MachineType_Directory) {
        access->source = source.num == socket ? Source::dram_local : Source::dram_remote;
    } else if (source.num != socket) {
        access->source = Source::core_other_socket;
    } else if (from_node) {
        access->source = Source::core_same_socket;
    } else {
        access->source = Source::l3;
        upgrade = asked; // the L3 had the data, and the home gave the right to write them
    }
    tap_.finish(*access, upgrade);
}

} // namespace

std::unique_ptr<LineTap::Protocol> LineTap::Protocol::make(LineTap &tap)
{
    return std::make_unique<HTAssist>(tap);
}

void SocketRouting::prepare(const Message &, int)
{
}

} // namespace gem5::ruby
