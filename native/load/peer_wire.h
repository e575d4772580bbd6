// SPDX-License-Identifier: BSD-3-Clause
//
// A wire with something at its other end that is not ours: frames go over a stream socket as QEMU's `-netdev stream` has them,
// each after its length in four bytes, the highest first.
//
// What is there lives in the host's time. From the first frame on the guest's clock goes no faster than the host's: each 100 us
// of the guest's the wire waits until as much of the host's time has gone by, or something has come. So a guest that has nothing
// to do does not see its timers run out before an answer can be there. Such a run is not the same a second time.
#ifndef MOSBENCH_NATIVE_LOAD_PEER_WIRE_H
#define MOSBENCH_NATIVE_LOAD_PEER_WIRE_H

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "native/load/events.h"

namespace mosbench::load {

class PeerWire {
  public:
    using ToCard = std::function<void(std::span<const uint8_t> frame)>;

    // Connects to the socket that is the file `path`; throws std::runtime_error with a sentence if it cannot.
    PeerWire(const std::string &path, double gbits_per_second, Events &events, ToCard to_card);
    ~PeerWire();
    PeerWire(const PeerWire &) = delete;

    // A frame of the card; its first bit is on the wire at `ns`.
    void from_card(std::span<const uint8_t> frame, uint64_t ns);

    uint64_t received() const { return received_; }
    uint64_t sent() const { return sent_; }
    // Nothing comes any more: the other end has closed the connection, or said what is no frame.
    bool ended() const { return socket_ < 0; }

  private:
    void look(uint64_t ns);
    void wait_for_the_host();
    void receive();
    void take_frames(uint64_t ns);
    void end();

    const double gbits_per_second_;
    Events &events_;
    const ToCard to_card_;
    int socket_ = -1;
    bool looking_ = false;
    std::chrono::steady_clock::time_point looked_;
    std::vector<uint8_t> pending_; // bytes of frames that are not whole
    uint64_t wire_free_ns_ = 0;    // towards the card
    uint64_t received_ = 0, sent_ = 0;
};

} // namespace mosbench::load

#endif
