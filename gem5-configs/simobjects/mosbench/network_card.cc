// SPDX-License-Identifier: BSD-3-Clause
#include "mosbench/network_card.hh"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

namespace gem5::ruby {

namespace {

constexpr Addr kLineBytes = 64;
constexpr unsigned kRegisters = 0; // number of their BAR
// Layout of the capabilities: PCI local bus specification 3.0, 6.8; PCI Express base specification 2.0, 7.8.
constexpr unsigned kNext = 1;
constexpr unsigned kMsiControl = 2, kMsiAddress = 4, kMsiData = 12, kMsiBytes = 14;
constexpr unsigned kMsixControl = 2, kMsixTable = 4, kMsixPending = 8, kMsixBytes = 12;
constexpr unsigned kExpressFlags = 2, kExpressControl = 8, kExpressLink = 12, kExpressLinkStatus = 18;
constexpr uint8_t kMsi = 0x05, kMsix = 0x11, kExpress = 0x10;
constexpr uint16_t kMsiOn = 1, kMsi64 = 1 << 7, kMsixOn = 1 << 15, kMsixMasked = 1 << 14;
constexpr uint16_t kPayloadAndRequestSize = 0x70E0;
constexpr uint32_t k8LanesOf5GT = 0x82;

constexpr const char *kStateFile = "network-card.state";

NetworkCard &self(void *opaque)
{
    return *static_cast<NetworkCard *>(opaque);
}

} // namespace

const card_host NetworkCard::kHost = {
    .now_ns = [](void *opaque) { return self(opaque).nanoseconds(); },
    .call_me_at = [](void *opaque, uint64_t ns) { self(opaque).callMeAt(ns); },
    .dma_read = [](void *opaque, uint64_t address, uint32_t bytes,
                   uint32_t token) { self(opaque).transfer(address, nullptr, bytes, token); },
    .dma_write = [](void *opaque, uint64_t address, const void *data, uint32_t bytes,
                    uint32_t token) { self(opaque).transfer(address, data, bytes, token); },
    .message = [](void *opaque, uint64_t address, uint32_t data) { self(opaque).message(address, data); },
};

NetworkCard::NetworkCard(const Params &p)
    : PciDevice(p), settings_(p.settings), tap_(p.tap), history_(p.history),
      messages_(name() + ".int_request", this, this, p.int_latency), alarm_([this] { wake(); }, name() + ".alarm")
{
    library_ = dlopen(p.library.c_str(), RTLD_NOW | RTLD_LOCAL);
    fatal_if(library_ == nullptr, "The network card's library: %s", dlerror());
    const auto create = reinterpret_cast<decltype(&mosbench_card_create)>(dlsym(library_, "mosbench_card_create"));
    const auto checkpoints = reinterpret_cast<decltype(&mosbench_card_checkpoints)>(dlsym(library_, "mosbench_card_checkpoints"));
    fatal_if(create == nullptr || checkpoints == nullptr, "The network card's library: %s", dlerror());
    checkpoints(&checkpoints_);
    std::array<char, 256> problem{};
    card_ = create(settings_.c_str(), &kHost, this, &operations_, problem.data(), problem.size());
    fatal_if(card_ == nullptr, "The network card: %s", problem.data());
    fatal_if(operations_.abi_version != CARD_ABI_VERSION || checkpoints_.abi_version != CARD_CHECKPOINT_ABI_VERSION,
             "The network card's library has interface versions %d and %d, gem5 has %d and %d.", operations_.abi_version,
             checkpoints_.abi_version, CARD_ABI_VERSION, CARD_CHECKPOINT_ABI_VERSION);
    fatal_if(p.VendorID != CARD_VENDOR || p.DeviceID != CARD_DEVICE || BARs[kRegisters]->size() != CARD_REGISTER_BYTES ||
                 BARs[CARD_MSIX_BAR]->size() != CARD_MSIX_BYTES || p.CapabilityPtr != CARD_MSI_CAPABILITY,
             "The network card's configuration space is not as card_abi.h says.");
    addCapabilities();
}

NetworkCard::~NetworkCard()
{
    operations_.destroy(card_);
    dlclose(library_);
}

std::string NetworkCard::writeMetrics(const std::string &path) const
{
    std::array<char, 256> problem{};
    return operations_.write_metrics(card_, path.c_str(), problem.data(), problem.size()) == 0 ? "" : problem.data();
}

Port &NetworkCard::getPort(const std::string &name, PortID index)
{
    return name == "int_requestor" ? messages_ : PciDevice::getPort(name, index);
}

void NetworkCard::init()
{
    fatal_if(!messages_.isConnected(), "The network card's messages go nowhere.");
    PciDevice::init();
}

// ---- its life ----

void NetworkCard::startup()
{
    PciDevice::startup();
    if (restored_.empty()) {
        operations_.power_on(card_);
        return;
    }
    fatal_if(checkpoints_.load(card_, restored_.data(), restored_.size()) != 0,
             "The checkpoint has a network card of another version.");
    restored_ = {};
}

DrainState NetworkCard::drain()
{
    return quiet() ? DrainState::Drained : DrainState::Draining;
}

void NetworkCard::drainResume()
{
    PciDevice::drainResume();
    for (const auto &transfer : std::exchange(held_, {})) {
        transfer();
    }
}

void NetworkCard::drainIfQuiet()
{
    if (drainState() == DrainState::Draining && quiet()) {
        signalDrainDone();
    }
}

void NetworkCard::serialize(CheckpointOut &checkpoint) const
{
    PciDevice::serialize(checkpoint);
    fatal_if(!checkpoints_.quiet(card_), "A checkpoint has nothing of what is on the network card's wire, and something is.");
    arrayParamOut(checkpoint, "space", space_.data(), space_.size());
    std::vector<uint8_t> state(checkpoints_.save(card_, nullptr, 0));
    checkpoints_.save(card_, state.data(), state.size());
    const std::string path = CheckpointIn::dir() + "/" + kStateFile;
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char *>(state.data()), static_cast<std::streamsize>(state.size())).flush();
    fatal_if(!file, "Cannot write %s.", path);
}

void NetworkCard::unserialize(CheckpointIn &checkpoint)
{
    PciDevice::unserialize(checkpoint);
    arrayParamIn(checkpoint, "space", space_.data(), space_.size());
    const std::string path = checkpoint.getCptDir() + "/" + kStateFile;
    std::ifstream file(path, std::ios::binary);
    restored_.assign(std::istreambuf_iterator<char>(file), {});
    fatal_if(restored_.empty(), "Cannot read %s.", path);
}

void NetworkCard::wake()
{
    operations_.wake(card_);
    drainIfQuiet();
}

// ---- what the card asks for ----

void NetworkCard::callMeAt(uint64_t ns)
{
    if (ns > MaxTick / sim_clock::as_int::ns) {
        if (alarm_.scheduled()) {
            deschedule(alarm_);
        }
        return;
    }
    reschedule(alarm_, std::max<Tick>(ns * sim_clock::as_int::ns + stood_still_, curTick()), true);
}

// Memory and nothing else: a descriptor may name the card's own registers.
void NetworkCard::transfer(Addr address, const void *written, unsigned bytes, uint32_t token)
{
    const bool write = written != nullptr;
    const Addr first = address / kLineBytes, end = (address + bytes + kLineBytes - 1) / kLineBytes;
    bool memory = end > first;
    for (Addr line = first; memory && line < end; line++) {
        memory = sys->isMemAddr(line * kLineBytes);
    }
    if (!memory) {
        under_way_++;
        transferred(token, nullptr, 0, false);
        return;
    }
    const auto data = std::make_shared<std::vector<uint8_t>>(bytes);
    if (write) {
        std::memcpy(data->data(), written, bytes);
    }
    if (drainState() != DrainState::Running) { // else a busy card never had none under way
        held_.emplace_back([this, address, write, data, token] { begin(address, write, data, token); });
    } else {
        begin(address, write, data, token);
    }
}

void NetworkCard::begin(Addr address, bool write, const std::shared_ptr<std::vector<uint8_t>> &data, uint32_t token)
{
    const auto bytes = static_cast<int>(data->size());
    const Addr end = (address + data->size() + kLineBytes - 1) / kLineBytes;
    for (Addr line = address / kLineBytes; line < end; line++) {
        if (tap_ != nullptr) {
            tap_->byCard(line, write);
        }
        if (history_ != nullptr && write) {
            history_->byDevice(line * kLineBytes);
        }
    }
    under_way_++;
    auto *const done = new EventFunctionWrapper(
        [this, data, token, write] {
            transferred(token, write ? nullptr : data->data(), write ? 0 : static_cast<unsigned>(data->size()), true);
        },
        name() + ".dma", true);
    if (write) {
        dmaWrite(address, bytes, done, data->data());
    } else {
        dmaRead(address, bytes, done, data->data());
    }
}

void NetworkCard::transferred(uint32_t token, const void *data, unsigned bytes, bool good)
{
    under_way_--;
    operations_.dma_done(card_, token, data, bytes, good);
    drainIfQuiet();
}

// Intel's manual, volume 3, 10.11: who is meant is in the address, the rest in the data. As gem5's I/O APIC has it, one of those
// with the lowest priority is the next one in turn.
void NetworkCard::message(uint64_t address, uint32_t data)
{
    using namespace X86ISA;
    TriggerIntMessage message = 0;
    message.destination = bits(address, 19, 12);
    message.destMode = bits(address, 2);
    message.vector = bits(data, 7, 0);
    message.deliveryMode = bits(data, 10, 8);
    message.level = 1;
    std::vector<int> meant;
    if (message.destMode == 0) {
        meant.push_back(message.destination);
    } else {
        for (ThreadContext *thread : sys->threads) {
            auto *const apic = dynamic_cast<Interrupts *>(thread->getCpuPtr()->getInterruptController(0));
            panic_if(apic == nullptr, "A processor has no APIC.");
            if ((apic->readReg(APIC_LOGICAL_DESTINATION) >> 24 & message.destination) != 0) {
                meant.push_back(apic->getInitialApicId());
            }
        }
        if (message.deliveryMode == delivery_mode::LowestPriority && meant.size() > 1) {
            meant = {meant[turn_++ % meant.size()]};
        }
    }
    for (const int apic : meant) {
        messages_.sendMessage(buildIntTriggerPacket(apic, message), sys->isTimingMode());
    }
}

// ---- what cores do ----

Tick NetworkCard::read(PacketPtr packet)
{
    int bar = -1;
    Addr offset = 0;
    panic_if(!getBAR(packet->getAddr(), bar, offset), "A read at %#x is not of the network card.", packet->getAddr());
    const auto read = bar == kRegisters ? operations_.read : operations_.read_msix;
    const auto at = static_cast<uint32_t>(offset);
    if (packet->getSize() == 8) {
        const uint64_t low = read(card_, at);
        packet->setLE<uint64_t>(low | static_cast<uint64_t>(read(card_, at + 4)) << 32);
    } else {
        panic_if(packet->getSize() != 4, "A register of the network card is read with %d bytes.", packet->getSize());
        packet->setLE<uint32_t>(read(card_, at));
    }
    packet->makeAtomicResponse();
    return operations_.register_read_ns * sim_clock::as_int::ns;
}

Tick NetworkCard::write(PacketPtr packet)
{
    int bar = -1;
    Addr offset = 0;
    panic_if(!getBAR(packet->getAddr(), bar, offset), "A write at %#x is not to the network card.", packet->getAddr());
    const auto write = bar == kRegisters ? operations_.write : operations_.write_msix;
    const auto at = static_cast<uint32_t>(offset);
    if (packet->getSize() == 8) {
        write(card_, at, static_cast<uint32_t>(packet->getLE<uint64_t>()));
        write(card_, at + 4, static_cast<uint32_t>(packet->getLE<uint64_t>() >> 32));
    } else {
        panic_if(packet->getSize() != 4, "A register of the network card is written with %d bytes.", packet->getSize());
        write(card_, at, packet->getLE<uint32_t>());
    }
    packet->makeAtomicResponse();
    return operations_.register_write_ns * sim_clock::as_int::ns;
}

// ---- configuration space behind the header, of which gem5's PciDevice knows nothing ----

uint16_t NetworkCard::configWord(unsigned offset) const
{
    return static_cast<uint16_t>(space_[offset] | space_[offset + 1] << 8);
}

void NetworkCard::setConfig(unsigned offset, uint64_t value, unsigned bytes, uint64_t writable)
{
    for (unsigned i = 0; i < bytes; i++) {
        space_[offset + i] = static_cast<uint8_t>(value >> 8 * i);
        writable_[offset + i] = static_cast<uint8_t>(writable >> 8 * i);
    }
}

void NetworkCard::addCapabilities()
{
    constexpr unsigned msi = CARD_MSI_CAPABILITY, msix = CARD_MSIX_CAPABILITY, express = CARD_EXPRESS_CAPABILITY;
    setConfig(msi, kMsi, 1, 0);
    setConfig(msi + kNext, msix, 1, 0);
    setConfig(msi + kMsiControl, kMsi64, 2, kMsiOn);
    setConfig(msi + kMsiAddress, 0, 8, ~uint64_t{3});
    setConfig(msi + kMsiData, 0, 2, UINT16_MAX);
    setConfig(msix, kMsix, 1, 0);
    setConfig(msix + kNext, express, 1, 0);
    setConfig(msix + kMsixControl, CARD_MSIX_VECTORS - 1, 2, kMsixOn | kMsixMasked);
    setConfig(msix + kMsixTable, CARD_MSIX_BAR, 4, 0);
    setConfig(msix + kMsixPending, CARD_MSIX_PENDING | CARD_MSIX_BAR, 4, 0);
    setConfig(express, kExpress, 1, 0);
    setConfig(express + kExpressFlags, 2, 2, 0); // version 2, an endpoint
    setConfig(express + kExpressControl, 0, 2, kPayloadAndRequestSize);
    setConfig(express + kExpressLink, k8LanesOf5GT, 4, 0);
    setConfig(express + kExpressLinkStatus, k8LanesOf5GT, 2, 0);
}

Tick NetworkCard::readConfig(PacketPtr packet)
{
    const unsigned offset = packet->getAddr() & (kConfigBytes - 1), bytes = packet->getSize();
    if (offset < kHeaderBytes) {
        return PciDevice::readConfig(packet);
    }
    panic_if(offset + bytes > kConfigBytes, "The network card's configuration space is read beyond its end.");
    packet->setData(space_.data() + offset);
    packet->makeAtomicResponse();
    return configDelay;
}

Tick NetworkCard::writeConfig(PacketPtr packet)
{
    const unsigned offset = packet->getAddr() & (kConfigBytes - 1), bytes = packet->getSize();
    if (offset < kHeaderBytes) {
        return PciDevice::writeConfig(packet);
    }
    panic_if(offset + bytes > kConfigBytes, "The network card's configuration space is written beyond its end.");
    std::array<uint8_t, 8> written{};
    panic_if(bytes > written.size(), "The network card's configuration space is written with %d bytes.", bytes);
    packet->writeData(written.data());
    for (unsigned i = 0; i < bytes; i++) {
        uint8_t &byte = space_[offset + i];
        byte = static_cast<uint8_t>((byte & ~writable_[offset + i]) | (written[i] & writable_[offset + i]));
    }
    configured(offset, bytes);
    packet->makeAtomicResponse();
    return configDelay;
}

void NetworkCard::configured(unsigned offset, unsigned bytes)
{
    const auto overlaps = [=](unsigned start, unsigned length) { return offset < start + length && start < offset + bytes; };
    constexpr unsigned msi = CARD_MSI_CAPABILITY, msix = CARD_MSIX_CAPABILITY;
    if (overlaps(msi, kMsiBytes)) {
        uint64_t address = 0;
        for (unsigned i = 0; i < 8; i++) {
            address |= static_cast<uint64_t>(space_[msi + kMsiAddress + i]) << 8 * i;
        }
        operations_.set_msi(card_, (configWord(msi + kMsiControl) & kMsiOn) != 0, address, configWord(msi + kMsiData));
    }
    if (overlaps(msix, kMsixBytes)) {
        const uint16_t control = configWord(msix + kMsixControl);
        operations_.set_msix(card_, (control & kMsixOn) != 0, (control & kMsixMasked) != 0);
    }
}

} // namespace gem5::ruby
