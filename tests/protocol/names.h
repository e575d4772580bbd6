// SPDX-License-Identifier: BSD-3-Clause
//
// States and events of the coherence protocol, spelled as in gem5-configs/protocol, and the pairs of them that a search reaches.
#ifndef MOSBENCH_TESTS_PROTOCOL_NAMES_H
#define MOSBENCH_TESTS_PROTOCOL_NAMES_H

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace mosbench::protocol {

// A core's copy of the line. _L: the look-up in the second level runs.
enum class CoreState : uint8_t { I, S, O, E, M, IS, IM, SM, OM, I_L, S_L, O_L, E_L, M_L };
enum class CoreEvent : uint8_t {
    Load,
    Ifetch,
    Store,
    Lookup,
    Lookup_Done,
    L2_to_L1D,
    L2_to_L1I,
    L1_to_L2,
    L2_Evict,
    Probe_Read,
    Probe_Inv,
    Grant_S,
    Grant_Once,
    Grant_E,
    Grant_M,
    Grant_Right
};

// A node: what is open for the line, but for requests at the home. G: a grant (GS: shared grants only), P: a probe, W: a
// writeback.
enum class NodeState : uint8_t { N, G, GS, P, W, WP };
enum class NodeEvent : uint8_t {
    Read_Move,
    Read_Copy,
    Read_Miss,
    Write_Move,
    Write_Upgrade,
    Write_Miss,
    Upgrade,
    Wait,
    Victim_Owner,
    Victim_Shared,
    Ack_More,
    Ack_Last,
    Done_More,
    Done_Last,
    Evict_Silent,
    Evict_Owner,
    Answer,
    Last_Shared,
    Last_Owned,
    Last_Read,
    Last_Overtaken,
    Last_Exclusive,
    Last_Write,
    Probe_Cores,
    Probe_Here,
    WB_Ack
};

// A home. U, S, O, X: as the probe filter has the line. SR, OR: a shared or owned line is read, BM: memory is read for a request,
// B: a request waits for its end, F: the filter evicts the line, DR, DW: a device reads or writes.
enum class HomeState : uint8_t { U, S, O, X, SR, OR, BM, B, F, DR, DW };
enum class HomeEvent : uint8_t {
    GETS,
    GETI,
    GETX,
    UPG,
    Put_Owner,
    Put_Other,
    DMA_Read,
    DMA_Write,
    Wait,
    Evict,
    Mem_Data,
    Mem_Read,
    Timer,
    Unblock_S,
    Unblock_O,
    Unblock_X,
    Answer,
    Last_Clean,
    Last_Dirty
};

inline const std::vector<std::string> kCoreStates{"I",  "S",  "O",   "E",   "M",   "IS",  "IM",
                                                  "SM", "OM", "I_L", "S_L", "O_L", "E_L", "M_L"};
inline const std::vector<std::string> kCoreEvents{"Load",       "Ifetch",   "Store",    "Lookup",     "Lookup_Done", "L2_to_L1D",
                                                  "L2_to_L1I",  "L1_to_L2", "L2_Evict", "Probe_Read", "Probe_Inv",   "Grant_S",
                                                  "Grant_Once", "Grant_E",  "Grant_M",  "Grant_Right"};
inline const std::vector<std::string> kNodeStates{"N", "G", "GS", "P", "W", "WP"};
inline const std::vector<std::string> kNodeEvents{
    "Read_Move",      "Read_Copy",    "Read_Miss",     "Write_Move",  "Write_Upgrade", "Write_Miss", "Upgrade",
    "Wait",           "Victim_Owner", "Victim_Shared", "Ack_More",    "Ack_Last",      "Done_More",  "Done_Last",
    "Evict_Silent",   "Evict_Owner",  "Answer",        "Last_Shared", "Last_Owned",    "Last_Read",  "Last_Overtaken",
    "Last_Exclusive", "Last_Write",   "Probe_Cores",   "Probe_Here",  "WB_Ack"};
inline const std::vector<std::string> kHomeStates{"U", "S", "O", "X", "SR", "OR", "BM", "B", "F", "DR", "DW"};
inline const std::vector<std::string> kHomeEvents{
    "GETS",     "GETI",     "GETX",  "UPG",       "Put_Owner", "Put_Other", "DMA_Read", "DMA_Write",  "Wait",      "Evict",
    "Mem_Data", "Mem_Read", "Timer", "Unblock_S", "Unblock_O", "Unblock_X", "Answer",   "Last_Clean", "Last_Dirty"};

// Which pairs of state and event were met.
class Pairs {
  public:
    void seen(CoreState state, CoreEvent event) { core_[index(state)] |= bit(event); }
    void seen(NodeState state, NodeEvent event) { node_[index(state)] |= bit(event); }
    void seen(HomeState state, HomeEvent event) { home_[index(state)] |= bit(event); }

    // "machine state event", the machines named by gem5's types of them.
    std::set<std::string> names() const
    {
        std::set<std::string> all;
        add(all, "L1Cache", core_, kCoreStates, kCoreEvents);
        add(all, "L3Cache", node_, kNodeStates, kNodeEvents);
        add(all, "Directory", home_, kHomeStates, kHomeEvents);
        return all;
    }

  private:
    using Rows = std::array<uint32_t, 16>; // a bit for each event

    template <typename T> static size_t index(T value) { return static_cast<size_t>(value); }
    template <typename T> static uint32_t bit(T event) { return uint32_t{1} << static_cast<unsigned>(event); }
    static void add(std::set<std::string> &all, const std::string &machine, const Rows &rows,
                    const std::vector<std::string> &states, const std::vector<std::string> &events)
    {
        for (size_t state = 0; state < states.size(); state++) {
            for (size_t event = 0; event < events.size(); event++) {
                if ((rows[state] >> event & 1) != 0) {
                    all.insert(machine + ' ' + states[state] + ' ' + events[event]);
                }
            }
        }
    }

    Rows core_{}, node_{}, home_{};
};

} // namespace mosbench::protocol

#endif
