// SPDX-License-Identifier: BSD-3-Clause
#include "mosbench/lock_tester.hh"

#include <cstring>

namespace gem5::ruby {

namespace {

constexpr unsigned kCounterBytes = 4;
constexpr unsigned kLongestPause = 30; // cycles between two accesses

} // namespace

LockTester::Statistics::Statistics(statistics::Group *parent)
    : statistics::Group(parent),
      ADD_STAT(checks, statistics::units::Count::get(), "accesses whose answer was checked, and writes that were acknowledged")
{
}

LockTester::LockTester(const Params &p)
    : ClockedObject(p), requestor_(p.system->getRequestorId(this)), counters_(p.counters), unlocked_(p.fault == "unlocked"),
      whole_line_(p.fault == "whole-line"), statistics_(this), patience_event_([this] { checkPatience(); }, name() + ".patience")
{
    const unsigned cores = p.port_cores_connection_count, devices = p.port_devices_connection_count;
    fatal_if(kCounterBytes + cores + kDeviceBytes * devices > kLineBytes,
             "A line has no room for bytes of %d cores and %d devices.", cores, devices);
    fatal_if(!p.fault.empty() && !unlocked_ && !whole_line_, "The tester has no fault '%s'.", p.fault);
    for (unsigned i = 0; i < cores; i++) {
        workers_.push_back(std::make_unique<Worker>(*this, csprintf("%s.core%d", name(), i), kCounterBytes + i, 1, false));
    }
    for (unsigned i = 0; i < devices; i++) {
        workers_.push_back(std::make_unique<Worker>(*this, csprintf("%s.device%d", name(), i),
                                                    kCounterBytes + cores + kDeviceBytes * i, kDeviceBytes, true));
    }
}

Port &LockTester::getPort(const std::string &name, PortID index)
{
    if (name == "cores") {
        return *workers_[index];
    }
    if (name == "devices") {
        return *workers_[params().port_cores_connection_count + index];
    }
    return ClockedObject::getPort(name, index);
}

void LockTester::startup()
{
    ClockedObject::startup();
    for (auto &worker : workers_) {
        worker->start();
    }
    schedule(patience_event_, clockEdge(params().patience));
}

void LockTester::checkPatience()
{
    for (const auto &worker : workers_) {
        worker->checkPatience();
    }
    schedule(patience_event_, clockEdge(params().patience));
}

void LockTester::coreIsDone()
{
    ended_++;
    if (ended_ == params().port_cores_connection_count) {
        exitSimLoop("no add and no byte was lost");
    }
}

LockTester::Worker::Worker(LockTester &tester, const std::string &name, unsigned offset, unsigned bytes, bool device)
    : RequestPort(name), tester_(tester), offset_(offset), bytes_(bytes), device_(device),
      random_(uint64_t{tester.params().seed} << 32 | offset), own_(tester.params().counters),
      next_event_([this] { next(); }, name + ".next")
{
}

unsigned LockTester::Worker::random(unsigned below)
{
    return static_cast<unsigned>(random_() % below);
}

void LockTester::Worker::start()
{
    tester_.schedule(next_event_, tester_.clockEdge(Cycles(1 + random(kLongestPause))));
}

void LockTester::Worker::checkPatience() const
{
    panic_if(!idle() && curTick() - sent_ > tester_.cyclesToTicks(tester_.params().patience),
             "An access of %s to %#x is not answered.", name(), tester_.address(line_));
}

// The next access, or of a core that has done all of its own, when all have, a look at each counter.
void LockTester::Worker::next()
{
    if (!device_ && done_ == tester_.params().operations) {
        tester_.cores_done_++;
        done_++;
    }
    if (tester_.coresAreDone()) {
        if (device_) {
            return;
        }
        if (last_ == tester_.counters_.size()) {
            tester_.coreIsDone();
            return;
        }
        line_ = last_++;
        send(Doing::last_read, 0, kCounterBytes, false, nullptr);
    } else if (!device_ && done_ > tester_.params().operations) {
        start(); // others are not done yet
    } else {
        done_++;
        choose();
    }
}

void LockTester::Worker::choose()
{
    line_ = random(static_cast<unsigned>(tester_.counters_.size()));
    const unsigned what = random(8);
    if (!device_ && what < 4) {
        send(Doing::add_read, 0, kCounterBytes, false, nullptr, !tester_.unlocked_);
    } else if (what < (device_ ? 2U : 5U)) {
        send(Doing::counter, 0, kCounterBytes, false, nullptr);
    } else if (what < (device_ ? 3U : 6U)) {
        send(Doing::own_read, offset_, bytes_, false, nullptr);
    } else if (device_ && tester_.whole_line_) {
        send(Doing::line_read, 0, kLineBytes, false, nullptr);
    } else {
        const unsigned first = random(bytes_), count = 1 + random(bytes_ - first);
        for (unsigned i = 0; i < count; i++) {
            own_[line_][offset_ + first + i] = static_cast<uint8_t>(random(256));
        }
        send(Doing::own_write, offset_ + first, count, true, &own_[line_][offset_ + first]);
    }
}

void LockTester::Worker::send(Doing doing, unsigned offset, unsigned bytes, bool write, const uint8_t *data, bool locked)
{
    doing_ = doing;
    begin_ = offset;
    length_ = bytes;
    sent_ = curTick();
    floor_ = tester_.counters_[line_].over;
    const Request::Flags flags = locked ? Request::LOCKED_RMW : Request::Flags(0);
    auto request = std::make_shared<Request>(tester_.address(line_) + offset, bytes, flags, tester_.requestor_);
    MemCmd command = write ? MemCmd::WriteReq : MemCmd::ReadReq;
    if (locked) {
        command = write ? MemCmd::LockedRMWWriteReq : MemCmd::LockedRMWReadReq;
    }
    auto *packet = new Packet(request, command);
    packet->allocate();
    if (write) {
        packet->setData(data);
    }
    if (!sendTimingReq(packet)) {
        waiting_ = packet;
    }
}

void LockTester::Worker::recvReqRetry()
{
    PacketPtr packet = waiting_;
    waiting_ = nullptr;
    if (packet != nullptr && !sendTimingReq(packet)) {
        waiting_ = packet;
    }
}

bool LockTester::Worker::recvTimingResp(PacketPtr packet)
{
    uint8_t data[kLineBytes] = {};
    if (packet->isRead()) {
        std::memcpy(data, packet->getConstPtr<uint8_t>(), length_);
    }
    delete packet;
    tester_.statistics_.checks++;
    check(data);
    return true;
}

// An answer: judge it, and go on.
void LockTester::Worker::check(const uint8_t *data)
{
    Counter &counter = tester_.counters_[line_];
    uint32_t value = 0;
    std::memcpy(&value, data, sizeof(value));
    switch (doing_) {
    case Doing::add_read:
        checkCounter(value);
        value++;
        counter.begun++;
        send(Doing::add_write, 0, kCounterBytes, true, reinterpret_cast<const uint8_t *>(&value), !tester_.unlocked_);
        return;
    case Doing::add_write:
        counter.over++;
        break;
    case Doing::counter:
        checkCounter(value);
        break;
    case Doing::own_read:
        for (unsigned i = 0; i < length_; i++) {
            panic_if(data[i] != own_[line_][begin_ + i], "Byte %d of line %#x: %s wrote %d last and reads %d.", begin_ + i,
                     tester_.address(line_), name(), own_[line_][begin_ + i], data[i]);
        }
        break;
    case Doing::line_read: // of the seeded fault: what others write meanwhile is lost
        send(Doing::line_write, 0, kLineBytes, true, data);
        return;
    case Doing::last_read:
        panic_if(value != counter.over, "The counter of line %#x: %d adds, and in the end it is %d for %s.",
                 tester_.address(line_), counter.over, value, name());
        break;
    default:
        break;
    }
    doing_ = Doing::nothing;
    start();
}

void LockTester::Worker::checkCounter(uint32_t value) const
{
    const Counter &counter = tester_.counters_[line_];
    panic_if(value < floor_ || value > counter.begun,
             "The counter of line %#x: %s reads %d after %d adds were over, and %d had begun.", tester_.address(line_), name(),
             value, floor_, counter.begun);
}

} // namespace gem5::ruby
