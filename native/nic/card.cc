// SPDX-License-Identifier: BSD-3-Clause
#include "native/nic/card.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "native/nic/counters.h"
#include "native/nic/nvm.h"

namespace mosbench::nic {

namespace {

constexpr uint64_t kVersion = 0x6D6F736E69630002; // of State: "mosnic" and a number

// Registers with two addresses: the one that the model uses.
uint32_t canonical(uint32_t offset)
{
    offset &= kRegisterBytes - 4;
    if (offset - reg::SRRCTL_LOW < reg::LOW_COUNT * 4) {
        return reg::SRRCTL + (offset - reg::SRRCTL_LOW) / 4 * reg::QUEUE_STRIDE;
    }
    if (offset - reg::DCA_RXCTRL_LOW < reg::LOW_COUNT * 4) {
        return reg::DCA_RXCTRL + (offset - reg::DCA_RXCTRL_LOW) / 4 * reg::QUEUE_STRIDE;
    }
    if (offset - reg::RAL_LOW < reg::LOW_COUNT * 8) {
        return reg::RAL + (offset - reg::RAL_LOW);
    }
    return offset;
}

bool read_only(uint32_t offset)
{
    switch (offset) {
    case reg::STATUS:
    case reg::EEC:
    case reg::FWSM:
    case reg::HICR:
    case reg::LINKS:
    case reg::ANLP1:
    case reg::SECRXSTAT:
    case reg::SECTXSTAT:
        return true;
    }
    return false;
}

} // namespace

Card::Card(const Settings &settings, Host &host)
    : settings_(settings), host_(host), state_(std::make_unique<State>()), interrupts_(*state_, settings_, host),
      director_(*state_), transmit_(*state_, settings_, host, interrupts_),
      receive_(*state_, settings_, host, interrupts_, director_)
{
    power_on();
}

void Card::power_on()
{
    const uint8_t generation = state_->generation;
    std::memset(static_cast<void *>(state_.get()), 0, sizeof(State));
    state_->generation = generation;
    state_->wake_ns = kNever;
    for (Message &message : state_->interrupts.table) {
        message.control = 1; // masked
    }
    reset();
}

// CTRL.RST. Frames in the FIFO and packets under way are lost; DMA that is on its way arrives and nobody cares. The address comes
// from the EEPROM again, the MSI-X table stays.
void Card::reset()
{
    State &s = *state_;
    s.generation++;
    s.registers.fill(0);
    s.at(reg::EEC) = bits::EEC_READY;
    s.at(reg::FWSM) = bits::FWSM_VALID;
    s.at(reg::AUTOC) = bits::AUTOC_10G_CX4;
    s.at(reg::LINKS) = bits::LINKS_UP_10G;
    s.at(reg::ANLP1) = bits::ANLP1_ANSWERED;
    s.at(reg::SECRXSTAT) = s.at(reg::SECTXSTAT) = bits::SECURITY_READY;
    s.at(reg::RDRXCTL) = bits::RDRXCTL_DMAIDONE;
    s.at(reg::RXPBSIZE) = bits::RXPBSIZE_512K;
    const auto &mac = settings_.mac;
    s.at(reg::RAL) =
        static_cast<uint32_t>(mac[3]) << 24 | static_cast<uint32_t>(mac[2]) << 16 | static_cast<uint32_t>(mac[1]) << 8 | mac[0];
    s.at(reg::RAL + 4) = bits::RAH_VALID | static_cast<uint32_t>(mac[5]) << 8 | mac[4];
    for (uint32_t queue = 0; queue < kQueues; queue++) {
        receive_.enable(queue, false);
        transmit_.enable(queue, false);
    }
    s.receptions_under_way = s.transmissions_under_way = 0;
    s.first_reception = s.first_transmission = s.next_queue = 0;
    s.receive_free_ns = s.wire_free_ns = 0;
    s.receive_in_use = s.transmit_in_use = {};
    s.fifo.first = s.fifo.count = s.fifo.read = s.fifo.used = 0;
    s.chosen = false;
    director_.clear();
    interrupts_.reset();
}

uint32_t Card::read(uint32_t offset)
{
    offset = canonical(offset);
    if (const auto value = interrupts_.read(offset)) {
        return *value;
    }
    if (offset == reg::FDIRFREE) {
        return director_.free();
    }
    const uint32_t value = state_->at(offset);
    if (cleared_by_read(offset)) {
        state_->at(offset) = 0;
    }
    return value;
}

void Card::write(uint32_t offset, uint32_t value)
{
    offset = canonical(offset);
    const uint64_t now = host_.now_ns();
    if (interrupts_.write(offset, value, now)) {
        wake_at(state_->interrupts.looked_at_ns);
    } else if (!write_control(offset, value) && !write_queue(offset, value) && !read_only(offset)) {
        state_->at(offset) = value;
    }
}

// Registers of the card as a whole that do something.
bool Card::write_control(uint32_t offset, uint32_t value)
{
    State &s = *state_;
    switch (offset) {
    case reg::CTRL:
        if (value & (bits::CTRL_RST | bits::CTRL_LNK_RST)) {
            reset();
        }
        s.at(offset) = value & ~(bits::CTRL_RST | bits::CTRL_LNK_RST);
        return true;
    case reg::EERD:
        s.at(offset) = value | bits::EERD_DONE | uint32_t{nvm_word(value >> 2 & 0x3FFF)} << 16;
        return true;
    case reg::MSCA: // no PHY answers
        s.at(offset) = value & ~bits::MSCA_COMMAND;
        s.at(reg::MSRWD) = 0;
        return true;
    case reg::AUTOC:
        s.at(offset) = value & ~bits::AUTOC_RESTART;
        return true;
    case reg::RDRXCTL:
        s.at(offset) = value | bits::RDRXCTL_DMAIDONE;
        return true;
    case reg::FDIRCTRL:
        director_.write_control(value);
        return true;
    case reg::FDIRCMD:
        if (director_.write_command(value)) {
            interrupts_.other(bits::CAUSE_FLOW_DIRECTOR);
            wake_at(host_.now_ns() + settings_.doorbell_ns);
        }
        return true;
    case reg::RXCTRL:
    case reg::DMATXCTL:
        s.at(offset) = value;
        wake_at(host_.now_ns() + settings_.doorbell_ns);
        return true;
    }
    return false;
}

// Tails, heads and switches of the queues.
bool Card::write_queue(uint32_t offset, uint32_t value)
{
    constexpr uint32_t kReceive = reg::RDBAL & ~0xFFFu, kTransmit = reg::TDBAL & ~0xFFFu, kArea = kQueues * reg::QUEUE_STRIDE;
    if (offset - kReceive >= kArea && offset - kTransmit >= kArea) {
        return false;
    }
    const uint32_t queue = offset % kArea / reg::QUEUE_STRIDE, first = offset - queue * reg::QUEUE_STRIDE;
    const uint64_t now = host_.now_ns();
    switch (first) {
    case reg::RDT:
        state_->at(offset) = value & 0xFFFF;
        receive_.tail_written(queue, now);
        wake_at(state_->receive[queue].notice_ns);
        return true;
    case reg::TDT:
        state_->at(offset) = value & 0xFFFF;
        transmit_.tail_written(queue, now);
        wake_at(state_->transmit[queue].ring.notice_ns);
        return true;
    case reg::RDH:
    case reg::TDH:
        state_->at(offset) = value & 0xFFFF;
        return true;
    case reg::RXDCTL:
    case reg::TXDCTL:
        switch_queue(offset, queue, value);
        return true;
    }
    return false;
}

void Card::switch_queue(uint32_t offset, uint32_t queue, uint32_t value)
{
    const bool on = value & bits::DCTL_ENABLE, was_on = state_->at(offset) & bits::DCTL_ENABLE;
    const bool receive = offset == reg::RXDCTL + queue * reg::QUEUE_STRIDE;
    if (queue >= settings_.queues) {
        return; // there is none: it does not come on
    }
    state_->at(offset) = value & ~bits::DCTL_FLUSH;
    if (on == was_on) {
        return;
    }
    // What stands in the tail register counts from now on.
    const uint64_t now = host_.now_ns();
    if (receive) {
        receive_.enable(queue, on);
        receive_.tail_written(queue, now);
    } else {
        transmit_.enable(queue, on);
        transmit_.tail_written(queue, now);
    }
    const auto pairs = static_cast<uint64_t>(std::popcount(state_->receive_on & state_->transmit_on));
    state_->totals.most_queues = std::max(state_->totals.most_queues, pairs);
    wake_at(now + settings_.doorbell_ns);
}

uint32_t Card::read_msix(uint32_t offset) const
{
    return interrupts_.read_table(offset % kMsixBytes & ~3u);
}

void Card::write_msix(uint32_t offset, uint32_t value)
{
    interrupts_.write_table(offset % kMsixBytes & ~3u, value, host_.now_ns());
    wake_at(state_->interrupts.looked_at_ns);
}

void Card::set_msix(bool on, bool all_masked)
{
    interrupts_.enable(on, all_masked, host_.now_ns());
    wake_at(state_->interrupts.looked_at_ns);
}

void Card::set_msi(bool on, uint64_t address, uint32_t data)
{
    interrupts_.enable_msi(on, address, data, host_.now_ns());
    wake_at(state_->interrupts.looked_at_ns);
}

void Card::frame_in(std::span<const uint8_t> frame)
{
    receive_.frame_in(frame);
    run();
}

void Card::wake()
{
    state_->wake_ns = kNever;
    run();
}

void Card::wake_at(uint64_t ns)
{
    if (ns < state_->wake_ns) {
        state_->wake_ns = ns;
        host_.call_me_at(ns);
    }
}

// Until nothing more can be done now. A host that answers DMA in the call itself comes back to dma_done while this runs.
void Card::run()
{
    if (running_) {
        return;
    }
    running_ = true;
    const uint64_t now = host_.now_ns();
    uint64_t next;
    for (bool progress = true; progress;) {
        progress = false;
        next = transmit_.run(now, progress);
        next = std::min(next, receive_.run(now, progress));
        next = std::min(next, interrupts_.run(now));
    }
    running_ = false;
    if (next != state_->wake_ns) {
        state_->wake_ns = next;
        host_.call_me_at(next);
    }
}

void Card::dma_done(uint32_t packed, std::span<const uint8_t> data, bool good)
{
    const Token token = Token::from(packed);
    if (!good) {
        state_->totals.dma_errors++;
    }
    if (token.card_generation != state_->generation) {
        return; // of before a reset
    }
    const auto current = [&](uint8_t generation) { return (generation & 127) == token.generation; };
    const uint32_t slot = token.owner, queue = token.owner;
    switch (token.kind) {
    case Dma::receive_descriptors:
        if (current(state_->receive[queue].generation)) {
            receive_.descriptors_read(queue, data, good);
        }
        break;
    case Dma::receive_payload:
        if (slot < kReceptions && current(state_->receptions[slot].generation)) {
            receive_.payload_written(slot, good);
        }
        break;
    case Dma::receive_write_back:
        if (slot < kReceptions && current(state_->receptions[slot].generation)) {
            receive_.written_back(slot, good);
        }
        break;
    case Dma::transmit_descriptors:
        if (current(state_->transmit[queue].ring.generation)) {
            transmit_.descriptors_read(queue, data, good);
        }
        break;
    case Dma::transmit_payload:
        if (slot < kTransmissions && current(state_->transmissions[slot].generation)) {
            transmit_.payload_read(slot, token.detail, data, good);
        }
        break;
    case Dma::transmit_write_back:
        if (current(state_->transmit[queue].ring.generation)) {
            transmit_.written_back(queue, token.detail != 0, good);
        }
        break;
    }
    run();
}

std::vector<uint8_t> Card::save() const
{
    std::vector<uint8_t> saved(2 * sizeof(uint64_t) + sizeof(State));
    const uint64_t head[2] = {kVersion, sizeof(State)};
    std::memcpy(saved.data(), head, sizeof head);
    std::memcpy(saved.data() + sizeof head, state_.get(), sizeof(State));
    return saved;
}

bool Card::load(std::span<const uint8_t> saved)
{
    uint64_t head[2];
    if (saved.size() != sizeof head + sizeof(State)) {
        return false;
    }
    std::memcpy(head, saved.data(), sizeof head);
    if (head[0] != kVersion || head[1] != sizeof(State)) {
        return false;
    }
    std::memcpy(static_cast<void *>(state_.get()), saved.data() + sizeof head, sizeof(State));
    host_.call_me_at(state_->wake_ns);
    return true;
}

} // namespace mosbench::nic
