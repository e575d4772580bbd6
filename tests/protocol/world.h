// SPDX-License-Identifier: BSD-3-Clause
//
// One cache line in a machine of some sockets: its copies, what is open for it, and the messages on their way. Bytes only, so
// that worlds are compared and hashed as they lie in memory. A copy's data is one bit: whether it is the newest.
#ifndef MOSBENCH_TESTS_PROTOCOL_WORLD_H
#define MOSBENCH_TESTS_PROTOCOL_WORLD_H

#include <cstdint>

#include "tests/protocol/names.h"

namespace mosbench::protocol {

enum class Request : uint8_t { none, GETS, GETI, GETX, UPG };
enum class ProbeType : uint8_t { none, READ, INV, UPG, WB_ACK };
enum class AnswerType : uint8_t { none, ACK, DATA, EXCLUSIVE, READ, SHARED, OWNED };
enum class ReportType : uint8_t { none, VICTIM, ACK, DONE };
enum class GrantType : uint8_t { none, S, ONCE, E, M, RIGHT };
enum class Unblock : uint8_t { none, S, O, X };
enum class DeviceWants : uint8_t { nothing, read, write };
enum class Right : uint8_t { none, S, O, X }; // of a socket

// From a core to its node: a copy that leaves, the answer to a probe, or that a grant was taken.
struct Report {
    ReportType type;
    CoreState state; // of the copy; I: there is none
    uint8_t current;
};

struct Grant {
    GrantType type;
    uint8_t current;
};

struct Core {
    CoreState state;
    uint8_t current;
    Request request;
    ProbeType probe;
    Grant grant;
    uint8_t reported; // of reports
    Report reports[4];
};

// From a home to a node. Answers go to `requester`, for its core of that number, and it expects that many.
struct Probe {
    ProbeType type;
    uint8_t requester, core, expected;
    uint8_t passing; // a read of an owned line, whose end the home does not wait for
    uint8_t given;   // an invalidation: a bit for each core of the socket that had been given the line since the one before
};

struct Answer {
    AnswerType type;
    uint8_t core, expected, current, dirty;
};

// Of a core, on its way from its node to the home or waiting there.
struct NodeRequest {
    Request kind;
    uint8_t sole; // an upgrade: its node has no other request for the line open till it has ended
};

// Data for a core or a device that reads and does not hold the line, on their way.
struct MemoryRead {
    uint8_t there, current;
};

constexpr uint8_t kNobody = 0, kL3 = 255; // owners in a node; a core is 1 + its number in the socket

template <int Nodes, int Cores> struct Node {
    static constexpr int kProbes = Nodes * Cores + 2; // a passing read of each core, and what comes behind them

    Right right;
    uint8_t holders; // a bit for each core of the socket
    uint8_t given;   // those whose copy came from the home, not out of the L3
    uint8_t owner;
    uint8_t l3, l3_dirty, l3_current;
    // Requests at the home, and the answers to the one that holds the line there.
    struct {
        uint8_t asked;               // a bit for each core that has one
        uint8_t overtaken;           // those that the home served before an invalidation
        uint8_t sole;                // one is an upgrade that has to be the only one
        uint8_t from_l3, l3_current; // it began with data of the L3
        uint8_t core, got, expected, data, current, dirty;
        AnswerType result;
    } r;
    // G: grants under way.
    struct {
        uint8_t cores, shared;
    } g;
    // P: a probe that waits for cores.
    struct {
        ProbeType type;
        uint8_t requester, core, expected, passing, pending, data, current, dirty;
    } p;
    // W: a writeback till the home acknowledges it.
    struct {
        uint8_t open, value, dirty, current;
    } w;
    // Messages to the home, and to this node.
    NodeRequest requests[Cores];
    struct {
        uint8_t there, dirty, current;
    } put;
    Unblock unblock;
    uint8_t probed; // of probes
    Probe probes[kProbes];
    Answer answers[Nodes + 1]; // by who sent them: nodes, the home
    MemoryRead reads[Cores];   // of a home that does not wait for the end of the read
};

template <int Nodes, int Cores> struct Home {
    HomeState state;
    uint8_t owner, holders; // nodes
    uint8_t given;          // cores that were given the line since the last invalidation
    uint8_t requester, core, got, expected;
    uint8_t data, current, dirty; // of a collected answer
    uint8_t memory;               // whether memory is current
    Answer answers[Nodes];
    MemoryRead reads[Nodes * Cores + 1]; // under way, by who asked: cores, the device
};

struct Device {
    DeviceWants asks; // a message to the home
    DeviceWants waits;
    uint8_t answered;
};

template <int Nodes, int Cores> struct World {
    static constexpr int kNodes = Nodes, kCores = Cores;
    static constexpr uint8_t kHome = Nodes; // as the sender of an answer and as who asks for one
    static constexpr int kDevice = Nodes * Cores;

    Core cores[Nodes * Cores];
    Node<Nodes, Cores> nodes[Nodes];
    Home<Nodes, Cores> home;
    Device device;
};

} // namespace mosbench::protocol

#endif
