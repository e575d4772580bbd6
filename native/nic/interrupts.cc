// SPDX-License-Identifier: BSD-3-Clause
#include "native/nic/interrupts.h"

#include <algorithm>
#include <bit>

namespace mosbench::nic {

namespace {

constexpr uint32_t kOtherCauses = 0xFFFF0000;

uint64_t bit(uint32_t vector)
{
    return uint64_t{1} << vector;
}

// The two words of a register pair such as EIMS_EX.
std::optional<uint32_t> word_of(uint32_t offset, uint32_t pair)
{
    return offset == pair ? std::optional(0u) : offset == pair + 4 ? std::optional(1u) : std::nullopt;
}

uint32_t eitr_offset(uint32_t vector)
{
    return vector < reg::EITR_LOW_COUNT ? reg::EITR + vector * 4 : reg::EITR_HIGH + (vector - reg::EITR_LOW_COUNT) * 4;
}

std::optional<uint32_t> eitr_vector(uint32_t offset)
{
    if (offset - reg::EITR < reg::EITR_LOW_COUNT * 4) {
        return (offset - reg::EITR) / 4;
    }
    if (offset - reg::EITR_HIGH < (kVectors - reg::EITR_LOW_COUNT) * 4) {
        return (offset - reg::EITR_HIGH) / 4 + reg::EITR_LOW_COUNT;
    }
    return std::nullopt;
}

} // namespace

std::optional<uint32_t> Interrupts::vector_of(uint32_t queue, uint32_t transmit) const
{
    const uint32_t entry = state_.at(reg::IVAR + queue / 2 * 4) >> (queue % 2 * 16 + transmit * 8);
    return entry & bits::IVAR_VALID ? std::optional(entry % kVectors) : std::nullopt;
}

std::optional<uint32_t> Interrupts::other_vector() const
{
    const uint32_t entry = state_.at(reg::IVAR_MISC) >> 8;
    return entry & bits::IVAR_VALID ? std::optional(entry % kVectors) : std::nullopt;
}

void Interrupts::queue_cause(uint32_t queue, uint32_t transmit)
{
    if (const auto vector = vector_of(queue, transmit)) {
        raise(bit(*vector));
    }
}

void Interrupts::raise(uint64_t vectors)
{
    self().causes |= vectors;
    self().due |= vectors;
}

void Interrupts::other(uint32_t causes)
{
    self().other_causes |= causes & kOtherCauses;
    self().other_due |= (causes & self().other_enabled) != 0;
}

uint64_t Interrupts::interval_ns(uint32_t vector) const
{
    return uint64_t{state_.at(eitr_offset(vector)) & bits::EITR_INTERVAL} * bits::EITR_UNIT_NS;
}

uint64_t Interrupts::transmit_interval_ns(uint32_t queue) const
{
    const auto vector = vector_of(queue, 1);
    return vector ? interval_ns(*vector) : 0;
}

void Interrupts::set_enabled(uint64_t vectors, uint32_t others, uint64_t now)
{
    const uint64_t fresh = vectors & ~self().enabled;
    self().due |= fresh & self().causes;
    self().other_due |= (others & ~self().other_enabled & self().other_causes) != 0;
    self().enabled = vectors;
    self().other_enabled = others & kOtherCauses;
    look_later(now);
}

void Interrupts::look_later(uint64_t now)
{
    self().looked_at_ns = std::min(self().looked_at_ns, now + settings_.doorbell_ns);
}

void Interrupts::send(uint32_t vector)
{
    const Message &message = self().table[vector];
    self().pending &= ~bit(vector);
    state_.totals.messages++;
    host_.message(uint64_t{message.address_high} << 32 | message.address_low, message.data);
}

// The causes that the message stands for are cleared where the driver wants it, and those of vectors above 15 always: no register
// that a driver uses would. The vector is disabled until the driver has looked after its queues.
void Interrupts::deliver(uint32_t vector, uint64_t now)
{
    const uint64_t automatic = state_.at(reg::EIAC) & bits::CAUSE_VECTORS;
    self().not_before_ns[vector] = now + interval_ns(vector);
    self().causes &= ~(bit(vector) & (automatic | ~uint64_t{bits::CAUSE_VECTORS}));
    if (state_.at(reg::GPIE) & bits::GPIE_EIAME) {
        self().enabled &= ~(bit(vector) & self().automask);
    }
    if (masked(vector)) {
        self().pending |= bit(vector);
    } else {
        send(vector);
    }
}

// One message for all causes, no more of them than the interval of vector 0 allows. The driver finds the causes in EICR, which
// clears them, and disables those of EIAM.
uint64_t Interrupts::run_msi(uint64_t now)
{
    InterruptState &s = self();
    if (!(s.due & s.enabled) && !s.other_due) {
        return s.looked_at_ns;
    }
    if (s.not_before_ns[0] > now) {
        return std::min(s.looked_at_ns, s.not_before_ns[0]);
    }
    s.due &= ~s.enabled;
    s.other_due = false;
    s.not_before_ns[0] = now + interval_ns(0);
    state_.totals.messages++;
    host_.message(s.msi_address, s.msi_data);
    return s.looked_at_ns;
}

uint64_t Interrupts::run(uint64_t now)
{
    if (self().looked_at_ns <= now) {
        self().looked_at_ns = kNever;
    }
    if (!self().on && self().msi_on) {
        return run_msi(now);
    }
    if (!self().on || !(state_.at(reg::GPIE) & bits::GPIE_MSIX)) {
        return self().looked_at_ns;
    }
    for (uint64_t rest = self().all_masked ? 0 : self().pending; rest != 0; rest &= rest - 1) {
        if (const auto vector = static_cast<uint32_t>(std::countr_zero(rest)); !masked(vector)) {
            send(vector);
        }
    }
    uint64_t next = self().looked_at_ns;
    for (uint64_t rest = self().due & self().enabled; rest != 0; rest &= rest - 1) {
        const auto vector = static_cast<uint32_t>(std::countr_zero(rest));
        if (self().not_before_ns[vector] > now) {
            next = std::min(next, self().not_before_ns[vector]);
            continue;
        }
        self().due &= ~bit(vector);
        deliver(vector, now);
    }
    if (const auto vector = other_vector(); vector && self().other_due) {
        if (self().not_before_ns[*vector] > now) {
            return std::min(next, self().not_before_ns[*vector]);
        }
        self().other_due = false;
        self().other_causes &= ~state_.at(reg::EIAC);
        deliver(*vector, now);
    }
    return next;
}

bool Interrupts::write(uint32_t offset, uint32_t value, uint64_t now)
{
    InterruptState &s = self();
    const uint64_t low = value & bits::CAUSE_VECTORS;
    switch (offset) {
    case reg::EICR:
        s.causes &= ~low;
        s.due &= ~low;
        s.other_causes &= ~value;
        return true;
    case reg::EICS:
        raise(low);
        other(value);
        look_later(now);
        return true;
    case reg::EIMS:
        set_enabled(s.enabled | low, s.other_enabled | value, now);
        return true;
    case reg::EIMC:
        set_enabled(s.enabled & ~low, s.other_enabled & ~value, now);
        return true;
    case reg::EIAM:
        s.automask = (s.automask & ~uint64_t{bits::CAUSE_VECTORS}) | low;
        state_.at(offset) = value;
        return true;
    }
    if (const auto word = word_of(offset, reg::EICS_EX)) {
        raise(uint64_t{value} << *word * 32);
        look_later(now);
    } else if (const auto word = word_of(offset, reg::EIMS_EX)) {
        set_enabled(s.enabled | uint64_t{value} << *word * 32, s.other_enabled, now);
    } else if (const auto word = word_of(offset, reg::EIMC_EX)) {
        set_enabled(s.enabled & ~(uint64_t{value} << *word * 32), s.other_enabled, now);
    } else if (const auto word = word_of(offset, reg::EIAM_EX)) {
        s.automask = (s.automask & ~(uint64_t{UINT32_MAX} << *word * 32)) | uint64_t{value} << *word * 32;
    } else if (const auto vector = eitr_vector(offset)) {
        state_.at(offset) = value & ~bits::EITR_KEEP_COUNT;
        if (!(value & bits::EITR_KEEP_COUNT)) {
            s.not_before_ns[*vector] = now;
        }
        look_later(now);
    } else {
        return false;
    }
    return true;
}

std::optional<uint32_t> Interrupts::read(uint32_t offset)
{
    InterruptState &s = self();
    const auto low = static_cast<uint32_t>(s.causes & bits::CAUSE_VECTORS);
    switch (offset) {
    case reg::EICR: {
        const uint32_t value = low | s.other_causes;
        s.other_causes = 0;
        if (!(state_.at(reg::GPIE) & bits::GPIE_OCD)) {
            s.causes &= ~uint64_t{bits::CAUSE_VECTORS};
            s.due &= ~uint64_t{bits::CAUSE_VECTORS};
        }
        if (!(state_.at(reg::GPIE) & (bits::GPIE_MSIX | bits::GPIE_EIAME))) {
            s.enabled &= ~(s.automask & bits::CAUSE_VECTORS);
        }
        return value;
    }
    case reg::EICS:
        return low | s.other_causes;
    case reg::EIMS:
    case reg::EIMC:
        return static_cast<uint32_t>(s.enabled & bits::CAUSE_VECTORS) | s.other_enabled;
    }
    for (const auto &[pair, value] : {std::pair(reg::EICS_EX, s.causes), std::pair(reg::EIMS_EX, s.enabled),
                                      std::pair(reg::EIMC_EX, s.enabled), std::pair(reg::EIAM_EX, s.automask)}) {
        if (const auto word = word_of(offset, pair)) {
            return static_cast<uint32_t>(value >> *word * 32);
        }
    }
    return std::nullopt;
}

uint32_t Interrupts::read_table(uint32_t offset) const
{
    if (offset < kMsixTableBytes) {
        const Message &message = self().table[offset / 16];
        const uint32_t words[] = {message.address_low, message.address_high, message.data, message.control};
        return words[offset % 16 / 4];
    }
    return offset - kMsixPending < 8 ? static_cast<uint32_t>(self().pending >> (offset / 4 % 2 * 32)) : 0;
}

void Interrupts::write_table(uint32_t offset, uint32_t value, uint64_t now)
{
    if (offset >= kMsixTableBytes) {
        return; // the pending bits cannot be written
    }
    Message &message = self().table[offset / 16];
    uint32_t *const words[] = {&message.address_low, &message.address_high, &message.data, &message.control};
    *words[offset % 16 / 4] = value;
    look_later(now);
}

void Interrupts::enable(bool on, bool all_masked, uint64_t now)
{
    self().on = on;
    self().all_masked = all_masked;
    look_later(now);
}

void Interrupts::enable_msi(bool on, uint64_t address, uint32_t data, uint64_t now)
{
    self().msi_on = on;
    self().msi_address = address;
    self().msi_data = data;
    look_later(now);
}

// The table and the message of MSI belong to PCI and stay as they are.
void Interrupts::reset()
{
    InterruptState &s = self();
    s.causes = s.due = s.enabled = s.automask = s.pending = 0;
    s.other_causes = s.other_enabled = 0;
    s.other_due = false;
    s.not_before_ns.fill(0);
    s.looked_at_ns = kNever;
}

} // namespace mosbench::nic
