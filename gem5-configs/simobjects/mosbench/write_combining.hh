// SPDX-License-Identifier: BSD-3-Clause
//
// A core's write-combining buffers. The stores to a line that go past the caches are collected in a buffer. It goes to memory as
// one burst, in which the line's home takes all copies back, as for a device's write. Who fills buffers faster than memory takes
// them waits.
//
// x86 has such stores come behind those that follow, unless there is a fence. Here the core's next store of another kind waits
// until memory has all of them, so that no fence is needed.
#ifndef MOSBENCH_WRITE_COMBINING_HH
#define MOSBENCH_WRITE_COMBINING_HH

#include <array>
#include <bitset>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "mosbench/gem5_api.hh"

namespace gem5 {

class WriteCombining : public ClockedObject {
  public:
    enum class Taken {
        no,     // no buffer is free
        opened, // the first bytes of a line
        added,  // further ones
    };

    PARAMS(WriteCombining);
    explicit WriteCombining(const Params &p);

    Port &getPort(const std::string &name, PortID index) override;
    DrainState drain() override;

    // Called each time that memory has a burst.
    void whenWritten(std::function<void()> go_on) { go_on_ = std::move(go_on); }

    // Collects what a store past the caches writes, in one line.
    Taken take(PacketPtr packet);
    // Whether another access has to wait until memory has what was collected, which is sent then.
    bool delays(PacketPtr packet);

  private:
    static constexpr unsigned kLine = 64;

    struct Buffer {
        Addr line;
        std::bitset<kLine> written; // bytes of it
        std::array<uint8_t, kLine> bytes;
    };

    class ToMemory : public RequestPort {
      public:
        explicit ToMemory(WriteCombining &owner) : RequestPort(owner.name() + ".port"), owner_(owner) {}

      protected:
        bool recvTimingResp(PacketPtr packet) override
        {
            owner_.written(packet);
            return true;
        }
        void recvReqRetry() override { owner_.sendNext(); }

      private:
        WriteCombining &owner_;
    };

    static Addr lineOf(Addr address) { return address & ~Addr{kLine - 1}; }
    bool underWay(Addr line) const;
    void send();
    void sendPiece(unsigned first, unsigned end);
    void sendNext();
    void written(PacketPtr packet);

    ToMemory port_;
    const unsigned buffers_;
    const RequestorID requestor_;
    std::optional<Buffer> open_;
    std::vector<Addr> under_way_; // lines, for each piece of one
    std::deque<PacketPtr> to_send_;
    std::function<void()> go_on_;
};

} // namespace gem5

#endif
