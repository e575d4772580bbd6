// SPDX-License-Identifier: BSD-3-Clause
//
// A random test of what gem5's own testers leave out: locked instructions, and devices that write parts of lines which cores
// have.
//
// Each shared line has a counter in its first four bytes, then a byte for each core and some bytes for each device. Cores add to
// counters by a locked read and write, read them, and write and read their byte; devices write a part of their bytes, and read
// those and counters. One access of each core and device is under way at a time. What is checked:
//
//   a counter that is read has at least the adds that were over when the read began, and at most those that had begun;
//   an own byte is what was written last;
//   in the end each core reads in each counter how many adds there were.
#ifndef MOSBENCH_LOCK_TESTER_HH
#define MOSBENCH_LOCK_TESTER_HH

#include <array>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "mosbench/gem5_api.hh"

namespace gem5::ruby {

class LockTester : public ClockedObject {
  public:
    PARAMS(LockTester);
    explicit LockTester(const Params &p);
    Port &getPort(const std::string &name, PortID index) override;
    void startup() override;

  private:
    static constexpr unsigned kLineBytes = 64;
    static constexpr unsigned kDeviceBytes = 6;
    using Line = std::array<uint8_t, kLineBytes>;

    enum class Doing { nothing, add_read, add_write, counter, own_write, own_read, line_read, line_write, last_read };

    struct Counter {
        uint32_t begun = 0, over = 0;
    };

    class Worker : public RequestPort {
      public:
        Worker(LockTester &tester, const std::string &name, unsigned offset, unsigned bytes, bool device);
        void start();
        bool idle() const { return doing_ == Doing::nothing; }
        void checkPatience() const;

      protected:
        bool recvTimingResp(PacketPtr packet) override;
        void recvReqRetry() override;

      private:
        void next();
        void choose();
        void send(Doing doing, unsigned offset, unsigned bytes, bool write, const uint8_t *data, bool locked = false);
        void check(const uint8_t *data);
        void checkCounter(uint32_t value) const;
        unsigned random(unsigned below);

        LockTester &tester_;
        const unsigned offset_, bytes_; // of the own bytes in each line
        const bool device_;
        std::mt19937_64 random_;
        std::vector<Line> own_; // what the own bytes hold
        Doing doing_ = Doing::nothing;
        unsigned line_ = 0, begin_ = 0, length_ = 0;
        uint32_t floor_ = 0; // adds that were over when the access began
        uint64_t done_ = 0;
        unsigned last_ = 0; // counters read in the end
        Tick sent_ = 0;
        PacketPtr waiting_ = nullptr;
        EventFunctionWrapper next_event_;
    };

    struct Statistics : public statistics::Group {
        explicit Statistics(statistics::Group *parent);
        statistics::Scalar checks;
    };

    Addr address(unsigned line) const { return Addr{line} * params().stride; }
    bool coresAreDone() const { return cores_done_ == params().port_cores_connection_count; }
    void coreIsDone();
    void checkPatience();

    const RequestorID requestor_;
    std::vector<std::unique_ptr<Worker>> workers_; // cores, then devices
    std::vector<Counter> counters_;
    unsigned cores_done_ = 0, ended_ = 0;
    const bool unlocked_, whole_line_; // faults
    Statistics statistics_;
    EventFunctionWrapper patience_event_;
};

} // namespace gem5::ruby

#endif
