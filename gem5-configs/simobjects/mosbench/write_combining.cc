// SPDX-License-Identifier: BSD-3-Clause
#include "mosbench/write_combining.hh"

#include <algorithm>
#include <memory>

namespace gem5 {

WriteCombining::WriteCombining(const Params &p)
    : ClockedObject(p), port_(*this), buffers_(p.buffers), requestor_(p.system->getRequestorId(this))
{
    fatal_if(buffers_ == 0, "A core that combines stores has a buffer for it.");
}

Port &WriteCombining::getPort(const std::string &name, PortID index)
{
    return name == "port" ? port_ : ClockedObject::getPort(name, index);
}

DrainState WriteCombining::drain()
{
    send();
    return under_way_.empty() ? DrainState::Drained : DrainState::Draining;
}

bool WriteCombining::underWay(Addr line) const
{
    return std::find(under_way_.begin(), under_way_.end(), line) != under_way_.end();
}

WriteCombining::Taken WriteCombining::take(PacketPtr packet)
{
    const Addr line = lineOf(packet->getAddr());
    const auto first = static_cast<unsigned>(packet->getAddr() - line), end = first + packet->getSize();
    panic_if(end > kLine, "A store past the caches is in two lines.");
    if (open_ && open_->line != line) {
        send();
    }
    const bool opens = !open_;
    if (opens) {
        if (under_way_.size() >= buffers_ || underWay(line)) {
            return Taken::no;
        }
        open_ = Buffer{line, {}, {}};
    }
    packet->writeData(open_->bytes.data() + first);
    for (unsigned byte = first; byte < end; ++byte) {
        open_->written.set(byte);
    }
    if (open_->written.all()) {
        send();
    }
    return opens ? Taken::opened : Taken::added;
}

bool WriteCombining::delays(PacketPtr packet)
{
    if (!open_ && under_way_.empty()) {
        return false;
    }
    const Addr line = lineOf(packet->getAddr());
    const bool same = underWay(line) || (open_ && open_->line == line);
    if (!same && packet->isRead() && !packet->isWrite() && packet->cmd != MemCmd::LockedRMWReadReq) {
        return false;
    }
    send();
    return true;
}

// A line with holes goes in pieces.
void WriteCombining::send()
{
    if (!open_) {
        return;
    }
    for (unsigned end = 0; end < kLine;) {
        unsigned first = end;
        while (first < kLine && !open_->written[first]) {
            ++first;
        }
        for (end = first; end < kLine && open_->written[end]; ++end) {
        }
        if (end > first) {
            sendPiece(first, end);
        }
    }
    open_.reset();
}

void WriteCombining::sendPiece(unsigned first, unsigned end)
{
    const auto request = std::make_shared<Request>(open_->line + first, end - first, 0, requestor_);
    auto *packet = new Packet(request, MemCmd::WriteReq);
    packet->allocate();
    packet->setData(open_->bytes.data() + first);
    under_way_.push_back(open_->line);
    to_send_.push_back(packet);
    if (to_send_.size() == 1) {
        sendNext();
    }
}

void WriteCombining::sendNext()
{
    while (!to_send_.empty() && port_.sendTimingReq(to_send_.front())) {
        to_send_.pop_front();
    }
}

void WriteCombining::written(PacketPtr packet)
{
    const auto found = std::find(under_way_.begin(), under_way_.end(), lineOf(packet->getAddr()));
    panic_if(found == under_way_.end(), "A burst ended that nobody began.");
    under_way_.erase(found);
    delete packet;
    if (go_on_) {
        go_on_();
    }
    if (drainState() == DrainState::Draining && under_way_.empty()) {
        signalDrainDone();
    }
}

} // namespace gem5
