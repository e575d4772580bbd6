// SPDX-License-Identifier: BSD-3-Clause
//
// The PCI function of the network card: configuration space, address decoding, DMA, messages and a timer. Everything else is in
// the library (native/load/card_abi.h), which knows nothing of gem5.
#ifndef MOSBENCH_NETWORK_CARD_HH
#define MOSBENCH_NETWORK_CARD_HH

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "mosbench/access_history.hh"
#include "mosbench/gem5_api.hh"
#include "mosbench/line_tap.hh"
#include "native/load/card_checkpoint_abi.h"

namespace gem5::ruby {

class NetworkCard : public PciDevice {
  public:
    PARAMS(NetworkCard);
    explicit NetworkCard(const Params &p);
    ~NetworkCard() override;

    // One JSON object with what the card and the clients have counted. An empty string, or a sentence that says what went wrong.
    std::string writeMetrics(const std::string &path) const;

    // For Python: the card and all behind its wire have not seen these ticks pass. gem5 must be drained.
    void standStill(uint64_t ticks) { stood_still_ += ticks; }

    Port &getPort(const std::string &name, PortID index = InvalidPortID) override;
    void init() override;
    void startup() override;
    DrainState drain() override;
    void drainResume() override;
    void serialize(CheckpointOut &checkpoint) const override;
    void unserialize(CheckpointIn &checkpoint) override;

    Tick read(PacketPtr packet) override;
    Tick write(PacketPtr packet) override;
    Tick readConfig(PacketPtr packet) override;
    Tick writeConfig(PacketPtr packet) override;

  private:
    static constexpr unsigned kHeaderBytes = PCI_DEVICE_SPECIFIC, kConfigBytes = 256;

    // What the card asks for.
    static const card_host kHost;
    void callMeAt(uint64_t ns);
    void transfer(Addr address, const void *written, unsigned bytes, uint32_t token);
    void begin(Addr address, bool write, const std::shared_ptr<std::vector<uint8_t>> &data, uint32_t token);
    void transferred(uint32_t token, const void *data, unsigned bytes, bool good);
    void message(uint64_t address, uint32_t data);

    void wake();
    bool quiet() const { return under_way_ == 0; }
    uint64_t nanoseconds() const { return (curTick() - stood_still_) / sim_clock::as_int::ns; }
    void drainIfQuiet();

    // Of the configuration space, what is behind the header: capabilities.
    void addCapabilities();
    void configured(unsigned offset, unsigned bytes);
    uint16_t configWord(unsigned offset) const;
    void setConfig(unsigned offset, uint64_t value, unsigned bytes, uint64_t writable);

    const std::string settings_;
    LineTap *const tap_;
    AccessHistory *const history_;
    void *library_ = nullptr;
    card *card_ = nullptr;
    card_operations operations_{};
    card_checkpoints checkpoints_{};
    X86ISA::IntRequestPort<NetworkCard> messages_;
    EventFunctionWrapper alarm_;
    std::array<uint8_t, kConfigBytes> space_{}, writable_{}; // from kHeaderBytes on
    unsigned under_way_ = 0;                                 // DMA
    std::vector<std::function<void()>> held_;                // DMA that begins when gem5 is no longer drained
    Tick stood_still_ = 0;                                   // in all
    unsigned turn_ = 0;                                      // of the processors that a message may go to
    std::vector<uint8_t> restored_;                          // by a checkpoint, until the card has it
};

} // namespace gem5::ruby

#endif
