// SPDX-License-Identifier: BSD-3-Clause
//
// What a client says on its TCP connection, or on one after the other, and what it makes of the replies.
#ifndef MOSBENCH_NATIVE_LOAD_DIALOGUE_H
#define MOSBENCH_NATIVE_LOAD_DIALOGUE_H

#include <cstdint>
#include <span>
#include <string>

namespace mosbench::load {

// more: of the reply is to come. ready: the server takes requests now. broken: the connection is of no use any more.
enum class Verdict { more, ready, right, wrong, broken };

class Dialogue {
  public:
    virtual ~Dialogue() = default;
    // What is said first on a connection; if it is something, requests wait for "ready".
    virtual std::string hello() { return {}; }
    // What came before belongs to no request any more.
    virtual std::string request(uint32_t number) = 0;
    virtual Verdict take(std::span<const uint8_t> bytes) = 0;
    // The server has closed the connection.
    virtual Verdict ended() { return Verdict::broken; }
    // Rows that the server has said it changed, for all requests.
    virtual uint64_t updated() const { return 0; }
};

} // namespace mosbench::load

#endif
