// SPDX-License-Identifier: BSD-3-Clause
//
// What happens to cache lines, seen from the network and from the sequencers.
//
// A miss is followed from the sequencer (who: program counter, virtual address), over its request in the network and the data
// message (from where: another core's cache, the L3 or memory), to the message that ends it. What the messages mean is the
// protocol's: one class for each, of which a gem5 has the one that it was built for.
#ifndef MOSBENCH_LINE_TAP_HH
#define MOSBENCH_LINE_TAP_HH

#include <array>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "mosbench/call_stacks.hh"
#include "mosbench/core_memory.hh"
#include "mosbench/gem5_api.hh"
#include "native/records/records.h"

namespace gem5::ruby {

class LineTap : public ClockedObject {
  public:
    struct Access {
        unsigned core = 0;            // its place among `cpus_`
        uint64_t line = ~uint64_t{0}; // number of the physical line
        mosbench::Toucher who{};
        mosbench::CallStacks::Start stack{}; // the core's, when it asked
        Cycles issued{0};
        bool held = false;      // the core had a copy
        bool in_l2 = false;     // and that in its second level
        bool outside = false;   // a request went into the network
        bool exclusive = false; // for writing
        bool got_data = false;
        mosbench::Source source = mosbench::Source::held;
    };

    // Reads the messages of a protocol.
    class Protocol {
      public:
        explicit Protocol(LineTap &tap) : tap_(tap) {}
        virtual ~Protocol() = default;
        Protocol(const Protocol &) = delete;
        Protocol &operator=(const Protocol &) = delete;

        // A message is at the router of `socket`. Each is counted once, at the router of the socket that it starts from.
        virtual void message(const Message &message, int vnet, unsigned socket) = 0;
        // The region begins: forget what was seen.
        virtual void begin() {}
        // Columns of the records, beside those that no gem5 knows, that the protocol does not tell.
        virtual std::set<std::string> unknown() const = 0;

        // Of the protocol that this gem5 was built for.
        static std::unique_ptr<Protocol> make(LineTap &tap);

      protected:
        LineTap &tap_;
    };

    PARAMS(LineTap);
    explicit LineTap(const Params &p);

    // Set up by the sequencers: a core's caches, first level (data, instructions) before the second.
    void addCore(unsigned core, std::array<CacheMemory *, 3> caches, bool works_ahead);

    // The region of interest. Nothing is counted outside it.
    void begin();
    void end();
    // Who called is looked for from a site's transfer `first` on, at each `chain_period`-th.
    void followFrom(unsigned first) { records_->follow_calls(chain_period_, first); }
    // A core's cycles, instructions and idle cycles in the region.
    void coreTotals(unsigned core, uint64_t cycles, uint64_t instructions, uint64_t idle_cycles);
    // The records file. An empty string, or a sentence that says what went wrong.
    std::string write(const std::string &path) const;
    // What all cores together did so far: lines that came from the L3, another core of the socket, one of another socket, the
    // memory of the socket, another one's; upgrades, invalidations, writebacks; cycles that they waited. Then messages by kind.
    std::vector<uint64_t> totals() const;
    // Messages put on links in the region by their size type, as SimpleNetwork's msg_count counts them.
    std::vector<uint64_t> linkMessages() const { return link_messages_; }

    bool counting() const { return counting_; }
    // A core is about to make a request.
    void request(unsigned core, const PacketPtr packet, bool instruction);
    // A store waits for a request of its core for the same line. It makes one of its own if that one brought no right to write.
    void behind(unsigned core, const PacketPtr packet);
    // A core's store past the caches began with a line, after it had waited for a buffer.
    void streamed(unsigned core, const PacketPtr packet, Cycles waited);
    // The network card is about to read or write a line.
    void byCard(uint64_t line, bool write)
    {
        if (counting_) {
            records_->by_card(static_cast<uint32_t>(line), write);
        }
    }
    // A message is at the router of `socket`, which sends it on over `links` links.
    void message(const Message &message, int vnet, unsigned socket, size_t links);

    void startup() override;

    // For the protocol.
    mosbench::Records &records() { return *records_; }
    unsigned cores() const { return static_cast<unsigned>(cores_.size()); }
    unsigned coreNumber(unsigned core) const { return core_numbers_[core]; }
    unsigned socketOf(unsigned core) const { return core_numbers_[core] / cores_per_socket_; }
    // Whether a DMA controller is a device's, and not that of a socket for its cores' stores past the caches; its socket.
    bool isDevice(unsigned controller) const { return controller < devices_; }
    unsigned socketOfDma(unsigned controller) const { return isDevice(controller) ? 0 : controller - devices_; }
    // Of a socket without a plugged core that has a cache controller all the same, the first one's number being 0.
    unsigned idleSocket(unsigned number) const { return idle_sockets_.at(number); }
    unsigned home(Addr address) const;
    bool holds(unsigned core, Addr address) const;
    // A core's accesses to a line of which no request was seen yet are what this request is for. True: it had a copy.
    bool leaves(unsigned core, uint64_t line, bool exclusive);
    // Of a core's accesses to a line that left it. A core may ask for a line again as soon as it has it (first to read, then to
    // write), while the message that ends the first access is still on its way: data is for the last, the end for the first.
    enum class Which { first, last };
    Access *outside(unsigned core, uint64_t line, Which which);
    // The access is over: its core has the line, or will in `completion_offset` cycles.
    void finish(Access &access, bool upgrade);
    // Who has a copy and is among those that `loses` says loses it.
    template <typename Loses> void copiesLost(Addr address, Loses loses)
    {
        for (unsigned core = 0; core < cores(); core++) {
            if (loses(core) && holds(core, address)) {
                copyLost(core, address);
            }
        }
    }

  private:
    // An in-order core has one access under way, split in two lines at most, and page walks; one that works ahead what its
    // sequencer takes at a time.
    static constexpr size_t kAccesses = 4, kAccessesAhead = 16;

    struct Core {
        std::array<CacheMemory *, 3> caches{};
        std::vector<Access> accesses;
        unsigned next = 0;
        std::vector<Access> behind; // of a core that works ahead; a ring
        unsigned next_behind = 0;
    };

    Access described(unsigned core, const PacketPtr packet) const;
    Access *unused(Core &core);
    void book(Access &access); // that did not leave the core
    bool storeLeaves(unsigned core, uint64_t line);
    mosbench::CallStacks::Start stackOf(unsigned core, Addr pc) const;
    // The number of who called there, for the records.
    uint32_t caller(unsigned core, const mosbench::CallStacks::Start &stack);
    void copyLost(unsigned core, Addr address);
    void sample();

    const std::string machine_;
    const unsigned sockets_, cores_per_socket_;
    const std::vector<BaseCPU *> cpus_;
    const std::vector<unsigned> core_numbers_;
    const std::vector<unsigned> idle_sockets_;
    const unsigned devices_;
    const std::vector<AddrRange> home_ranges_;
    const std::vector<unsigned> home_nodes_;
    const int64_t completion_offset_;
    const Cycles l2_cycles_, sample_period_;
    const uint32_t chain_period_;
    const std::string kernel_;
    const std::vector<CacheMemory *> shared_caches_;
    std::vector<Core> cores_;
    std::unique_ptr<mosbench::Records> records_;
    std::unique_ptr<mosbench::CallStacks> stacks_; // null: no callers are looked for
    std::vector<CoreMemory> memories_;             // by core, for the walks of stacks
    std::unique_ptr<Protocol> protocol_;
    std::vector<uint64_t> link_messages_;
    bool counting_ = false;
    Cycles began_{0}, length_{0};
    EventFunctionWrapper sample_event_;
};

} // namespace gem5::ruby

#endif
