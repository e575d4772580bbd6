// SPDX-License-Identifier: BSD-3-Clause
//
// TCP of the client machines: lwIP, built from Debian's source package with options of our own (lwip/lwipopts.h). lwIP keeps its
// state in globals, so there is one stack at a time, with an address for each machine. Its time is that of the event under way.
#ifndef MOSBENCH_NATIVE_LOAD_TCP_STACK_H
#define MOSBENCH_NATIVE_LOAD_TCP_STACK_H

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "native/load/events.h"

struct tcp_pcb;

namespace mosbench::load {

// What a connection tells its owner. The owner may close, abort or delete the connection in any of these calls.
class TcpUser {
  public:
    virtual void connected() = 0;
    virtual void received(std::span<const uint8_t> bytes) = 0;
    virtual void ended() = 0;  // the other end has sent its last byte
    virtual void failed() = 0; // reset by the other end, or given up for want of an answer

  protected:
    ~TcpUser() = default;
};

class TcpConnection {
  public:
    explicit TcpConnection(tcp_pcb *pcb);
    // Aborts it, with a reset to the other end, unless it was closed or has failed.
    ~TcpConnection();
    TcpConnection(const TcpConnection &) = delete;

    void send(std::string_view bytes);
    // Sends what is left and then its end. Nothing more is told to the user.
    void close();
    void set_user(TcpUser &user);

    struct State; // lwIP's side; it outlives this object where a close() is under way
  private:
    std::shared_ptr<State> state_;
};

class TcpStack {
  public:
    // An IP packet of a machine.
    using Output = std::function<void(std::span<const uint8_t> packet, uint64_t ns)>;
    // Takes a new connection, and says who is to be told of what comes (set_user).
    using Accept = std::function<void(std::unique_ptr<TcpConnection> connection)>;

    struct Address {
        uint32_t address;
        uint16_t port;
    };

    // Addresses from `first_address` on, one for each machine.
    TcpStack(uint32_t first_address, uint32_t machines, Events &events, Output output);
    ~TcpStack();
    TcpStack(const TcpStack &) = delete;

    // One more address (a server's, in tests).
    void add_address(uint32_t address);
    // Sequence numbers follow from it.
    void seed(uint64_t seed);
    // An IP packet to one of the addresses.
    void input(std::span<const uint8_t> packet);
    // Nothing if the source's port is in use.
    std::unique_ptr<TcpConnection> connect(TcpUser &user, Address source, Address destination);
    void listen(Address at, Accept accept);

    struct Globals;

  private:
    std::unique_ptr<Globals> globals_;
};

} // namespace mosbench::load

#endif
