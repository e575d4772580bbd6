// SPDX-License-Identifier: BSD-3-Clause
//
// What happens to cache lines in MOESI_hammer, seen from the network and from the sequencers.
//
// A miss is followed from the sequencer (who: program counter, virtual address), over its GETS or GETX in the network, the data
// message (from where: another core's cache or memory), to its UNBLOCK message, which ends it. A message is counted once, at the
// router of the socket that it starts from.
#ifndef MOSBENCH_LINE_TAP_HH
#define MOSBENCH_LINE_TAP_HH

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "mosbench/gem5_api.hh"
#include "native/records/records.h"

namespace gem5::ruby {

class LineTap : public ClockedObject {
  public:
    PARAMS(LineTap);
    explicit LineTap(const Params &p);

    // Set up by the sequencers: a core's caches, first level (data, instructions) before the second.
    void addCore(unsigned core, std::array<CacheMemory *, 3> caches);

    // The region of interest. Nothing is counted outside it.
    void begin();
    void end();
    // A core's cycles, instructions and idle cycles in the region.
    void coreTotals(unsigned core, uint64_t cycles, uint64_t instructions, uint64_t idle_cycles);
    // The records file. An empty string, or a sentence that says what went wrong.
    std::string write(const std::string &path) const;
    // Messages put on links in the region by their size type, as SimpleNetwork's msg_count counts them.
    std::vector<uint64_t> linkMessages() const { return link_messages_; }

    bool counting() const { return counting_; }
    // A core is about to make a request.
    void request(unsigned core, const PacketPtr packet, bool instruction);
    // A message is at the router of `socket`, which sends it on over `links` links.
    void message(const Message &message, int vnet, unsigned socket, size_t links);

    void startup() override;

  private:
    struct Access {
        uint64_t line = ~uint64_t{0}; // number of the physical line
        mosbench::Toucher who{};
        Cycles issued{0};
        bool held = false;      // the core had a copy
        bool in_l2 = false;     // and that in its second level
        bool outside = false;   // a request went into the network
        bool exclusive = false; // for writing
        bool got_data = false;
        mosbench::Source source = mosbench::Source::held;
    };
    struct Core {
        std::array<CacheMemory *, 3> caches{};
        std::array<Access, 4> accesses; // a core has one access under way, split in two lines at most, and page walks
        unsigned next = 0;
        Cycles until_sample{0};
    };

    void book(Access &access); // that did not leave the core
    // Of a core's accesses to a line that left it. A core may ask for a line again as soon as it has it (first to read, then to
    // write), while the message that ends the first access is still on its way: data is for the last, the end for the first.
    enum class Which { first, last };
    Access *outside(unsigned core, uint64_t line, Which which);
    bool holds(unsigned core, Addr address) const;
    unsigned home(Addr address) const;
    unsigned socketOf(unsigned core) const { return core_numbers_[core] / cores_per_socket_; }
    unsigned socketOf(const MachineID &machine) const;

    void coreRequest(const RequestMsg &message);
    void forward(const RequestMsg &message);
    void response(const ResponseMsg &message);
    void finished(const ResponseMsg &message);
    void data(const ResponseMsg &message, unsigned requester);
    void sample();

    const std::string machine_;
    const unsigned sockets_, cores_per_socket_;
    const std::vector<BaseCPU *> cpus_;
    const std::vector<unsigned> core_numbers_;
    const std::vector<unsigned> idle_sockets_;
    const std::vector<AddrRange> home_ranges_;
    const std::vector<unsigned> home_nodes_;
    const Cycles completion_offset_, l2_cycles_, sample_period_;
    std::vector<Core> cores_;
    std::unique_ptr<mosbench::Records> records_;
    std::vector<uint64_t> link_messages_;
    bool counting_ = false;
    Cycles began_{0}, ended_{0};
    EventFunctionWrapper sample_event_;
};

} // namespace gem5::ruby

#endif
