// SPDX-License-Identifier: BSD-3-Clause
//
// What each part of the protocol does with a message or a wish of its processor: one function for a step, which throws a Fault
// where the world that it leaves or meets cannot be right. Written after the tables in gem5-configs/protocol, event by event.
#ifndef MOSBENCH_TESTS_PROTOCOL_STEPS_H
#define MOSBENCH_TESTS_PROTOCOL_STEPS_H

#include <string>

#include "tests/protocol/rules.h"
#include "tests/protocol/world.h"

namespace mosbench::protocol {

struct Fault {
    std::string what;
};

inline void must(bool holds, const char *otherwise)
{
    if (!holds) {
        throw Fault{otherwise};
    }
}

inline bool owns(CoreState state) // its data may be newer than memory's, or it alone has them
{
    switch (state) {
    case CoreState::O:
    case CoreState::E:
    case CoreState::M:
    case CoreState::OM:
    case CoreState::O_L:
    case CoreState::E_L:
    case CoreState::M_L:
        return true;
    default:
        return false;
    }
}

inline bool has_copy(CoreState state)
{
    return owns(state) || state == CoreState::S || state == CoreState::SM || state == CoreState::S_L;
}

inline bool may_write(CoreState state)
{
    return state == CoreState::E || state == CoreState::M || state == CoreState::E_L || state == CoreState::M_L;
}

inline bool looks_up(CoreState state)
{
    return state >= CoreState::I_L;
}
inline bool stable(CoreState state)
{
    return state <= CoreState::M;
}

// Between a stable state and the same with a look-up of the second level.
inline CoreState looked_up(CoreState state)
{
    return static_cast<CoreState>(static_cast<int>(state) - static_cast<int>(CoreState::I_L));
}
inline CoreState looking_up(CoreState state)
{
    return static_cast<CoreState>(static_cast<int>(state) + static_cast<int>(CoreState::I_L));
}

template <typename W> class Steps {
  public:
    Steps(W &world, const Setup &setup, Pairs &pairs) : w_(world), setup_(setup), pairs_(pairs) {}

    // ---- Cores ----

    void ask(int c, CoreEvent event, CoreState next, Request request)
    {
        Core &core = w_.cores[c];
        pairs_.seen(core.state, event);
        core.state = next;
        core.request = request;
    }

    void hit(int c, CoreEvent event)
    {
        Core &core = w_.cores[c];
        pairs_.seen(core.state, event);
        if (event == CoreEvent::Store) {
            core.state = CoreState::M;
            written(&core.current);
        }
    }

    void start_lookup(int c)
    {
        Core &core = w_.cores[c];
        pairs_.seen(core.state, CoreEvent::Lookup);
        core.state = looking_up(core.state);
    }

    void end_lookup(int c)
    {
        Core &core = w_.cores[c];
        pairs_.seen(core.state, CoreEvent::Lookup_Done);
        core.state = looked_up(core.state);
    }

    void evict(int c)
    {
        Core &core = w_.cores[c];
        pairs_.seen(core.state, CoreEvent::L2_Evict);
        report(c, {ReportType::VICTIM, core.state, core.current});
        core.state = CoreState::I;
        core.current = 0;
    }

    void probed(int c)
    {
        Core &core = w_.cores[c];
        const ProbeType probe = core.probe;
        core.probe = ProbeType::none;
        Report answer{ReportType::ACK, CoreState::I, 0};
        if (owns(core.state)) {
            const bool clean = core.state == CoreState::E || core.state == CoreState::E_L;
            answer.state = clean ? CoreState::E : CoreState::M;
            answer.current = core.current;
        }
        if (probe == ProbeType::READ) {
            pairs_.seen(core.state, CoreEvent::Probe_Read);
            core.state = after_read(core.state);
        } else {
            pairs_.seen(core.state, CoreEvent::Probe_Inv);
            core.state = after_invalidation(core.state);
            core.current = 0;
        }
        report(c, answer);
    }

    void granted(int c)
    {
        Core &core = w_.cores[c];
        const Grant grant = core.grant;
        core.grant = {};
        switch (grant.type) {
        case GrantType::S:
            pairs_.seen(core.state, CoreEvent::Grant_S);
            must(core.state == CoreState::IS, "a shared copy is granted to a core that did not ask to read");
            must(grant.current != 0, "a core reads old data");
            core.state = CoreState::S;
            core.current = 1;
            break;
        case GrantType::ONCE: // the data were the newest when the home or the owner read them
            pairs_.seen(core.state, CoreEvent::Grant_Once);
            must(core.state == CoreState::IS, "data to read once are granted to a core that did not ask to read");
            core.state = CoreState::I;
            return;
        case GrantType::E:
            pairs_.seen(core.state, CoreEvent::Grant_E);
            must(core.state == CoreState::IS, "an exclusive copy is granted to a core that did not ask to read");
            must(grant.current != 0, "a core reads old data");
            core.state = CoreState::E;
            core.current = 1;
            break;
        case GrantType::M:
            pairs_.seen(core.state, CoreEvent::Grant_M);
            must(grant.current != 0, "a core writes into old data");
            if (core.state == CoreState::IS) { // a dirty line of the L3 moves to a reader
                core.current = 1;
            } else {
                must(core.state == CoreState::IM, "data for writing are granted to a core that has some or did not ask");
                written(&core.current);
            }
            core.state = CoreState::M;
            break;
        case GrantType::RIGHT:
            pairs_.seen(core.state, CoreEvent::Grant_Right);
            must(core.state == CoreState::SM || core.state == CoreState::OM,
                 "the right to write is granted to a core without a copy");
            must(core.current != 0, "a core writes into old data");
            core.state = CoreState::M;
            written(&core.current);
            break;
        case GrantType::none:
            throw Fault{"no grant"};
        }
        report(c, {ReportType::DONE, CoreState::I, 0});
    }

    // ---- Nodes: requests of their cores ----

    // Whether the request was taken; otherwise it waits.
    bool request(int c)
    {
        const int k = node_of(c), own = own_number(c);
        auto &node = w_.nodes[k];
        Core &core = w_.cores[c];
        Request kind = core.request;
        const bool listed = (node.holders >> own & 1) != 0, read = kind == Request::GETS || kind == Request::GETI;
        const NodeState state = state_of(k);
        const bool copy = read && !listed && node.l3 != 0 && node.right != Right::X;
        const bool moves = node.l3 != 0 && node.right == Right::X;
        const bool others = node.r.asked != 0;
        const bool joins = !others || ((node.r.sole == 0 || !setup_.holds(Rule::sole_upgrade_is_alone)) && !moves);
        if (!(state == NodeState::GS && copy) && !(state == NodeState::N && copy) &&
            (busy(node) || !joins || (kind != Request::UPG && listed && setup_.holds(Rule::request_waits_for_victim)))) {
            pairs_.seen(state, NodeEvent::Wait);
            return false;
        }
        if (kind == Request::UPG && !listed && setup_.holds(Rule::upgrade_of_listed_only)) {
            kind = Request::GETX;
        }
        core.request = Request::none;
        if (moves) {
            must(node.owner == kL3, "an L3 has a line alone and does not own it");
            pairs_.seen(state, read ? NodeEvent::Read_Move : NodeEvent::Write_Move);
            const bool dirty = node.l3_dirty != 0;
            grant(c, read && !dirty ? GrantType::E : GrantType::M, node.l3_current);
            node.l3 = node.l3_dirty = node.l3_current = 0;
            node.owner = static_cast<uint8_t>(1 + own);
            node.holders = static_cast<uint8_t>(1 << own);
            must(node.given == 0, "a core without a copy was given one");
            return true;
        }
        if (copy) {
            pairs_.seen(state, NodeEvent::Read_Copy);
            node.holders |= static_cast<uint8_t>(1 << own);
            grant(c, GrantType::S, node.l3_current);
            return true;
        }
        must((node.r.asked >> own & 1) == 0, "a second request of a core");
        node.r.asked |= static_cast<uint8_t>(1 << own);
        if (kind == Request::GETX && node.l3 != 0 && !others) {
            pairs_.seen(state, NodeEvent::Write_Upgrade);
            node.r.from_l3 = 1;
            node.r.l3_current = node.l3_current;
            kind = Request::UPG;
        } else {
            pairs_.seen(state, read ? NodeEvent::Read_Miss : kind == Request::UPG ? NodeEvent::Upgrade : NodeEvent::Write_Miss);
        }
        const bool sole = kind == Request::UPG && !others && (node.given >> own & 1) == 0;
        node.r.sole |= sole ? 1 : 0;
        node.requests[own] = {kind, static_cast<uint8_t>(sole)};
        return true;
    }

    // ---- Nodes: reports of their cores ----

    // `keep`: whether the L3 keeps a shared victim, if it can.
    void reported(int c, int which, bool keep)
    {
        const int k = node_of(c), own = own_number(c);
        auto &node = w_.nodes[k];
        const Report report = take_report(w_.cores[c], which);
        const NodeState state = state_of(k);
        switch (report.type) {
        case ReportType::DONE:
            must((node.g.cores >> own & 1) != 0, "a core has taken a grant that is not under way");
            pairs_.seen(state, node.g.cores == 1 << own ? NodeEvent::Done_Last : NodeEvent::Done_More);
            node.g.cores &= static_cast<uint8_t>(~(1 << own));
            node.g.shared = node.g.cores != 0 ? node.g.shared : 0;
            break;
        case ReportType::VICTIM:
            pairs_.seen(state, owns(report.state) ? NodeEvent::Victim_Owner : NodeEvent::Victim_Shared);
            victim(k, own, report, keep);
            break;
        case ReportType::ACK:
            must(node.p.type != ProbeType::none && node.p.pending != 0, "an answer to no probe");
            pairs_.seen(state, node.p.pending == 1 ? NodeEvent::Ack_Last : NodeEvent::Ack_More);
            answered(k, own, report);
            break;
        case ReportType::none:
            throw Fault{"no report"};
        }
    }

    void l3_evict(int k)
    {
        auto &node = w_.nodes[k];
        const NodeState state = state_of(k);
        if (node.owner != kL3) {
            pairs_.seen(state, NodeEvent::Evict_Silent);
            node.l3 = 0;
        } else {
            pairs_.seen(state, NodeEvent::Evict_Owner);
            must(node.w.open == 0, "a second writeback of a line");
            node.w.open = node.w.value = 1;
            node.w.dirty = node.l3_dirty;
            node.w.current = node.l3_current;
            node.put = {1, node.l3_dirty, node.l3_current};
            node.l3 = node.owner = 0;
            node.right = node.holders != 0 ? Right::S : Right::none;
        }
        tidy(node);
    }

    // ---- Nodes: messages of homes and of other nodes ----

    // Whether the probe was taken; otherwise it waits.
    bool probe(int k, int which)
    {
        auto &node = w_.nodes[k];
        const Probe probe = node.probes[which];
        const NodeState state = state_of(k);
        if (probe.type == ProbeType::WB_ACK) {
            pairs_.seen(state, NodeEvent::WB_Ack);
            must(node.p.type == ProbeType::none, "a writeback is acknowledged while a probe is open");
            must(node.w.open != 0, "the acknowledgement of no writeback");
            node.w = {};
            take_probe(node, which);
            return true;
        }
        const bool read = probe.type == ProbeType::READ;
        const int keep = read ? -1 : spared(k, probe);
        const uint8_t asked = read ? asked_to_read(node) : static_cast<uint8_t>(node.holders & ~(keep < 0 ? 0 : 1 << keep));
        pairs_.seen(state, asked != 0 ? NodeEvent::Probe_Cores : NodeEvent::Probe_Here);
        if (node.g.cores != 0 && setup_.holds(Rule::probe_waits_for_grant)) {
            must(node.w.open == 0, "a probe waits for a grant while a writeback is open");
            return false;
        }
        if (node.p.type != ProbeType::none) { // a read passes, and what comes behind it waits
            must(node.w.open == 0, "a probe waits for another while a writeback is open");
            return false;
        }
        take_probe(node, which);
        node.p = {};
        node.p.type = probe.type;
        node.p.requester = probe.requester;
        node.p.core = probe.core;
        node.p.expected = probe.expected;
        node.p.passing = probe.passing;
        if (read) {
            read_probe(k);
        } else {
            invalidate(k, probe);
        }
        for (int own = 0; own < W::kCores; own++) {
            if ((asked >> own & 1) != 0) {
                Core &core = w_.cores[k * W::kCores + own];
                must(core.probe == ProbeType::none, "a second probe of a core");
                core.probe = read ? ProbeType::READ : ProbeType::INV;
                node.p.pending++;
            }
        }
        if (asked == 0) {
            close_probe(k);
        }
        return true;
    }

    void answer(int k, int from)
    {
        auto &node = w_.nodes[k];
        const Answer answer = node.answers[from];
        node.answers[from] = {};
        auto &r = node.r;
        must((r.asked >> answer.core & 1) != 0, "an answer to no request");
        must(r.expected == 0 || (r.expected == answer.expected && r.core == answer.core), "answers of two requests");
        const NodeState state = state_of(k);
        r.core = answer.core;
        r.expected = answer.expected;
        r.got++;
        if (answer.type != AnswerType::ACK) {
            if (from != W::kHome || r.data == 0) { // an owner's data are at least as new as memory's
                r.data = 1;
                r.current = answer.current;
                r.dirty = answer.dirty;
            }
            r.result = answer.type;
        }
        if (r.got != r.expected) {
            pairs_.seen(state, NodeEvent::Answer);
            return;
        }
        if (r.result == AnswerType::DATA || r.result == AnswerType::none) {
            pairs_.seen(state, NodeEvent::Last_Write);
            end_write(k);
        } else {
            end_read(k, state);
        }
    }

    // Data for a read that does not hold the line at its home. Whether they were taken; otherwise they wait.
    bool read_answered(int k, int own)
    {
        auto &node = w_.nodes[k];
        const uint8_t current = node.reads[own].current;
        const auto bit = static_cast<uint8_t>(1 << own);
        must((node.r.asked & bit) != 0, "an answer to no request");
        const NodeState state = state_of(k);
        if ((node.r.overtaken & bit) != 0 && setup_.holds(Rule::overtaken_read_not_kept)) {
            pairs_.seen(state, NodeEvent::Last_Overtaken);
            must((node.holders & bit) == 0, "the node lists a core whose read was overtaken");
            node.reads[own] = {};
            request_ends(node, own);
            Grant &grant = w_.cores[k * W::kCores + own].grant;
            must(grant.type == GrantType::none, "a second grant to a core");
            grant = {GrantType::ONCE, 0};
            return true;
        }
        pairs_.seen(state, NodeEvent::Last_Read);
        if (node.p.type != ProbeType::none) {
            return false;
        }
        node.reads[own] = {};
        request_ends(node, own);
        share(k, own, current);
        return true;
    }

    // ---- Homes ----

    bool request_at_home(int k, int own)
    {
        auto &home = w_.home;
        auto &node = w_.nodes[k];
        const int c = k * W::kCores + own;
        if (busy()) {
            pairs_.seen(home.state, HomeEvent::Wait);
            return false;
        }
        const bool sole = node.requests[own].sole != 0;
        Request kind = node.requests[own].kind;
        node.requests[own] = {};
        const bool shared = home.state == HomeState::S || home.state == HomeState::O;
        const bool holder = ((sole ? home.holders >> k : home.given >> c) & 1) != 0 && shared;
        if (kind == Request::UPG && !holder && setup_.holds(sole ? Rule::upgrade_of_holder_only : Rule::upgrade_of_given_only)) {
            kind = Request::GETX;
        }
        switch (kind) {
        case Request::GETS:
        case Request::GETI:
            pairs_.seen(home.state, kind == Request::GETS ? HomeEvent::GETS : HomeEvent::GETI);
            home_read(c, kind);
            break;
        case Request::GETX:
            pairs_.seen(home.state, HomeEvent::GETX);
            home_write(c);
            break;
        case Request::UPG:
            pairs_.seen(home.state, HomeEvent::UPG);
            hold(c, HomeState::B);
            broadcast({ProbeType::UPG, home.requester, home.core, W::kNodes, 0, 0});
            break;
        case Request::none:
            throw Fault{"no request"};
        }
        return true;
    }

    bool put_at_home(int k)
    {
        auto &home = w_.home;
        auto &node = w_.nodes[k];
        if (busy()) {
            pairs_.seen(home.state, HomeEvent::Wait);
            return false;
        }
        const auto put = node.put;
        node.put = {};
        const bool owned = home.state == HomeState::O || home.state == HomeState::X;
        if ((owned && home.owner == k) || !setup_.holds(Rule::put_of_owner_only)) {
            pairs_.seen(home.state, HomeEvent::Put_Owner);
            if (put.dirty != 0) {
                home.memory = put.current;
            }
            const bool shared = home.state == HomeState::O || home.state == HomeState::S;
            home.state = shared ? HomeState::S : HomeState::U;
            home.owner = 0;
            home.holders = shared ? home.holders : 0;
            home.given = shared ? home.given : 0;
        } else {
            pairs_.seen(home.state, HomeEvent::Put_Other);
        }
        send(k, {ProbeType::WB_ACK, 0, 0, 0, 0, 0});
        return true;
    }

    void unblock_at_home(int k)
    {
        auto &home = w_.home;
        const Unblock kind = w_.nodes[k].unblock;
        w_.nodes[k].unblock = Unblock::none;
        must(home.state == HomeState::B && home.requester == k, "the end of a request that the home does not serve");
        const auto bit = static_cast<uint8_t>(1 << k), core = static_cast<uint8_t>(1 << (k * W::kCores + home.core));
        home.requester = home.core = 0;
        switch (kind) {
        case Unblock::X:
            pairs_.seen(home.state, HomeEvent::Unblock_X);
            home.state = HomeState::X;
            home.owner = static_cast<uint8_t>(k);
            home.holders = bit;
            home.given = core;
            break;
        case Unblock::S:
            pairs_.seen(home.state, HomeEvent::Unblock_S);
            home.state = HomeState::S;
            home.owner = 0;
            home.holders |= bit;
            home.given |= core;
            break;
        case Unblock::O:
            pairs_.seen(home.state, HomeEvent::Unblock_O);
            home.state = HomeState::O;
            home.holders |= bit;
            home.given |= core;
            break;
        case Unblock::none:
            throw Fault{"no end of a request"};
        }
    }

    void memory_answers(int c) // the core or the device that asked
    {
        auto &home = w_.home;
        const uint8_t current = home.reads[c].current;
        home.reads[c] = {};
        const int k = c == W::kDevice ? W::kHome : node_of(c);
        const bool holds = k == home.requester && (own_number(c) == home.core || !setup_.holds(Rule::reads_told_by_core));
        if (home.state == HomeState::BM && holds) {
            pairs_.seen(home.state, HomeEvent::Mem_Data);
            home.state = HomeState::B;
            respond(k, W::kHome, {static_cast<AnswerType>(home.data), home.core, home.expected, current, 0});
            home.data = home.expected = 0;
            return;
        }
        pairs_.seen(home.state, HomeEvent::Mem_Read);
        if (c == W::kDevice) {
            w_.device.answered = 1;
        } else {
            MemoryRead &slot = w_.nodes[k].reads[own_number(c)];
            must(slot.there == 0, "a second answer to a read of a core");
            slot = {1, current};
        }
    }

    void timer()
    {
        pairs_.seen(w_.home.state, HomeEvent::Timer);
        w_.home.state = w_.home.state == HomeState::SR ? HomeState::S : HomeState::O;
    }

    void filter_evict()
    {
        pairs_.seen(w_.home.state, HomeEvent::Evict);
        recall(HomeState::F);
    }

    void answer_at_home(int from)
    {
        auto &home = w_.home;
        const Answer answer = home.answers[from];
        home.answers[from] = {};
        if (answer.type != AnswerType::ACK) {
            home.data = 1;
            home.current = answer.current;
            home.dirty = answer.dirty;
        }
        if (++home.got != home.expected) {
            pairs_.seen(home.state, HomeEvent::Answer);
            return;
        }
        pairs_.seen(home.state, home.dirty != 0 ? HomeEvent::Last_Dirty : HomeEvent::Last_Clean);
        if (home.state == HomeState::DR) {
            must(home.data != 0 && home.current != 0, "a device reads old data");
            home.state = home.dirty != 0 ? HomeState::O : HomeState::S;
            home.owner = home.dirty != 0 ? home.owner : 0;
            w_.device.answered = 1;
        } else {
            if (home.dirty != 0) {
                home.memory = home.current;
            }
            must(home.memory != 0, "memory is old where nobody has a copy");
            if (home.state == HomeState::DW) {
                device_writes();
            }
            home.state = HomeState::U;
            home.owner = home.holders = home.given = 0;
        }
        home.got = home.expected = home.data = home.current = home.dirty = 0;
    }

    // ---- The device ----

    void device_asks(DeviceWants what) { w_.device.asks = w_.device.waits = what; }

    bool device_at_home()
    {
        auto &home = w_.home;
        if (busy()) {
            pairs_.seen(home.state, HomeEvent::Wait);
            return false;
        }
        const bool read = w_.device.asks == DeviceWants::read;
        w_.device.asks = DeviceWants::nothing;
        pairs_.seen(home.state, read ? HomeEvent::DMA_Read : HomeEvent::DMA_Write);
        const bool owned = home.state == HomeState::O || home.state == HomeState::X;
        if (read && owned) {
            home.state = HomeState::DR;
            home.expected = 1;
            send(home.owner, {ProbeType::READ, W::kHome, 0, 1, 0, 0});
        } else if (read) {
            must(home.memory != 0, "a device reads old memory");
            read_memory(W::kDevice);
        } else if (home.state == HomeState::U) {
            device_writes();
        } else {
            recall(HomeState::DW);
        }
        return true;
    }

    void device_takes() { w_.device = {}; }

    // ---- What must hold in every world ----

    void check() const
    {
        int writers = 0, copies = 0;
        for (const Core &core : w_.cores) {
            writers += may_write(core.state);
            if (has_copy(core.state)) {
                copies++;
                must(core.current != 0, "a core has an old copy");
            }
        }
        for (const auto &node : w_.nodes) {
            if (node.l3 != 0) {
                copies++;
                writers += node.right == Right::X;
                must(node.l3_current != 0, "an L3 has an old copy");
            }
        }
        must(writers == 0 || copies == 1, "a copy beside that of who may write");
        const HomeState state = w_.home.state;
        if (state == HomeState::U || state == HomeState::S || state == HomeState::SR) {
            must(w_.home.memory != 0, "memory is old though the home takes it for current");
        }
    }

    // Whether something is under way that has to end.
    bool pending() const
    {
        for (const Core &core : w_.cores) {
            if (!stable(core.state) || core.reported != 0 || core.probe != ProbeType::none ||
                core.grant.type != GrantType::none) {
                return true;
            }
        }
        for (const auto &node : w_.nodes) {
            if (node.r.asked != 0 || node.g.cores != 0 || node.p.type != ProbeType::none || node.w.open != 0 ||
                node.probed != 0) {
                return true;
            }
        }
        return busy() || w_.device.waits != DeviceWants::nothing;
    }

    NodeState state_of(int k) const
    {
        const auto &node = w_.nodes[k];
        const bool p = node.p.type != ProbeType::none;
        if (node.g.cores != 0) {
            return node.g.shared != 0 ? NodeState::GS : NodeState::G;
        }
        if (node.w.open != 0) {
            return p ? NodeState::WP : NodeState::W;
        }
        return p ? NodeState::P : NodeState::N;
    }

  private:
    using NodeType = std::remove_reference_t<decltype(std::declval<W>().nodes[0])>;

    static int node_of(int c) { return c / W::kCores; }
    static int own_number(int c) { return c % W::kCores; }

    // ---- Cores ----

    static CoreState after_read(CoreState state)
    {
        switch (state) {
        case CoreState::M:
            return CoreState::O;
        case CoreState::M_L:
            return CoreState::O_L;
        case CoreState::E:
            return CoreState::S;
        case CoreState::E_L:
            return CoreState::S_L;
        default:
            return state;
        }
    }

    static CoreState after_invalidation(CoreState state)
    {
        if (looks_up(state)) {
            return CoreState::I_L;
        }
        if (state == CoreState::SM || state == CoreState::OM) {
            return CoreState::IM;
        }
        return stable(state) ? CoreState::I : state;
    }

    void report(int c, Report report)
    {
        Core &core = w_.cores[c];
        must(core.reported < 4, "more than four reports of a core under way");
        core.reports[core.reported++] = report;
    }

    static Report take_report(Core &core, int which)
    {
        const Report taken = core.reports[which];
        for (int i = which + 1; i < 4; i++) {
            core.reports[i - 1] = core.reports[i];
        }
        core.reports[3] = {};
        core.reported--;
        return taken;
    }

    // The copy at `newest` is written: all others are old from now on.
    void written(uint8_t *newest)
    {
        for (Core &core : w_.cores) {
            core.current = core.grant.current = 0;
            for (Report &report : core.reports) {
                report.current = 0;
            }
        }
        for (auto &node : w_.nodes) {
            node.l3_current = node.r.current = node.r.l3_current = node.p.current = node.w.current = node.put.current = 0;
            for (Answer &answer : node.answers) {
                answer.current = 0;
            }
            for (MemoryRead &read : node.reads) {
                read.current = 0;
            }
        }
        auto &home = w_.home;
        home.current = home.memory = 0;
        for (Answer &answer : home.answers) {
            answer.current = 0;
        }
        for (MemoryRead &read : home.reads) {
            read.current = 0;
        }
        *newest = 1;
    }

    // ---- Nodes ----

    bool busy(const NodeType &node) const
    {
        return node.g.cores != 0 || node.p.type != ProbeType::none ||
               (node.w.open != 0 && setup_.holds(Rule::request_waits_for_writeback));
    }

    static void drop(NodeType &node, int own)
    {
        const auto others = static_cast<uint8_t>(~(1 << own));
        node.holders &= others;
        node.given &= others;
    }

    // A socket without copies has no right to one.
    static void tidy(NodeType &node)
    {
        if (node.l3 == 0) {
            node.l3_dirty = node.l3_current = 0;
        }
        if (node.holders == 0 && node.l3 == 0) {
            node.right = Right::none;
            node.owner = kNobody;
        }
    }

    void grant(int c, GrantType type, uint8_t current)
    {
        auto &node = w_.nodes[node_of(c)];
        must(w_.cores[c].grant.type == GrantType::none, "a second grant to a core");
        w_.cores[c].grant = {type, current};
        node.g.cores |= static_cast<uint8_t>(1 << own_number(c));
        node.g.shared = type == GrantType::S;
    }

    void victim(int k, int own, Report report, bool keep)
    {
        auto &node = w_.nodes[k];
        must((node.holders >> own & 1) != 0, "the victim of a core that the node does not list");
        drop(node, own);
        const bool owner = owns(report.state);
        const uint8_t dirty = report.state != CoreState::E;
        if (owner && node.p.type != ProbeType::none) { // the core will answer the probe that it has nothing
            node.p.data = 1;
            node.p.current = report.current;
            node.p.dirty = dirty;
        }
        if (node.p.type == ProbeType::INV || node.p.type == ProbeType::UPG) {
            node.owner = node.owner == 1 + own ? kNobody : node.owner;
        } else if (owner) {
            must(node.owner == 1 + own, "an owner's victim of a core that does not own the line");
            node.l3 = 1;
            node.l3_dirty = dirty;
            node.l3_current = report.current;
            node.owner = kL3;
            if (node.p.type == ProbeType::READ) {
                shared_by_read(node, dirty != 0);
            }
        } else if (node.l3 == 0 && keep) {
            node.l3 = 1;
            node.l3_current = report.current;
        }
        tidy(node);
    }

    // An owner was read: with dirty data it owns the line further, with clean ones memory does.
    static void shared_by_read(NodeType &node, bool dirty)
    {
        node.right = dirty ? Right::O : Right::S;
        node.owner = dirty ? node.owner : kNobody;
    }

    void answered(int k, int own, Report report)
    {
        auto &node = w_.nodes[k];
        if (report.state != CoreState::I) {
            node.p.data = 1;
            node.p.current = report.current;
            node.p.dirty = report.state != CoreState::E;
        }
        if (node.p.type == ProbeType::READ) {
            if (report.state != CoreState::I) {
                shared_by_read(node, report.state != CoreState::E);
            }
        } else {
            drop(node, own);
            node.owner = node.owner == 1 + own ? kNobody : node.owner;
        }
        if (--node.p.pending == 0) {
            close_probe(k);
        }
    }

    static void take_probe(NodeType &node, int which)
    {
        for (int i = which + 1; i < NodeType::kProbes; i++) {
            node.probes[i - 1] = node.probes[i];
        }
        node.probes[NodeType::kProbes - 1] = {};
        node.probed--;
    }

    // The core whose copy its own upgrade leaves it; -1: none.
    int spared(int k, const Probe &probe) const
    {
        const auto &node = w_.nodes[k];
        if (probe.type != ProbeType::UPG || probe.requester != k) {
            return -1;
        }
        must((node.r.asked >> probe.core & 1) != 0, "the probe of an upgrade that is not under way");
        const bool listed = (node.holders >> probe.core & 1) != 0;
        must(listed || node.r.from_l3 != 0, "an upgrade without a copy");
        return listed && setup_.holds(Rule::upgrade_spares_asker) ? probe.core : -1;
    }

    static uint8_t asked_to_read(const NodeType &node)
    {
        return node.owner == kNobody || node.owner == kL3 ? 0 : static_cast<uint8_t>(1 << (node.owner - 1));
    }

    void read_probe(int k)
    {
        auto &node = w_.nodes[k];
        if (node.owner == kL3) {
            node.p.data = 1;
            node.p.current = node.l3_current;
            node.p.dirty = node.l3_dirty;
            shared_by_read(node, node.l3_dirty != 0);
        } else if (node.owner == kNobody) {
            must(node.w.open != 0 && node.w.value != 0, "a probe to read finds no owner");
            node.p.data = 1;
            node.p.current = node.w.current;
            node.p.dirty = node.w.dirty;
        }
    }

    void invalidate(int k, const Probe &probe)
    {
        auto &node = w_.nodes[k];
        const bool own = probe.requester == k; // a request of this node holds the line: it is not overtaken
        node.r.overtaken |= static_cast<uint8_t>(node.r.asked & probe.given);
        node.r.overtaken &= static_cast<uint8_t>(~(own ? 1 << probe.core : 0));
        if (!own || probe.type != ProbeType::UPG) {
            node.r.from_l3 = node.r.l3_current = 0;
        }
        if (node.w.open != 0 && node.w.value != 0 && setup_.holds(Rule::invalidation_takes_writeback)) {
            node.p.data = 1;
            node.p.current = node.w.current;
            node.p.dirty = node.w.dirty;
            node.w.value = node.w.current = 0;
        }
        if (node.l3 != 0) {
            if (node.owner == kL3) {
                node.p.data = 1;
                node.p.current = node.l3_current;
                node.p.dirty = node.l3_dirty;
                node.owner = kNobody;
            }
            node.l3 = node.l3_dirty = node.l3_current = 0;
        }
    }

    void close_probe(int k)
    {
        auto &node = w_.nodes[k];
        const auto p = node.p;
        node.p = {};
        Answer answer{AnswerType::ACK, p.core, p.expected, 0, 0};
        if (p.type == ProbeType::READ) {
            must(p.data != 0, "a probe to read is answered without data");
            answer = {p.dirty != 0 ? AnswerType::OWNED : AnswerType::SHARED, p.core, p.expected, p.current, p.dirty};
        } else if (p.data != 0 && p.type != ProbeType::UPG) {
            answer = {AnswerType::DATA, p.core, p.expected, p.current, p.dirty};
        }
        tidy(node);
        if (p.passing != 0) {
            MemoryRead &slot = w_.nodes[p.requester].reads[p.core];
            must(slot.there == 0, "a second answer to a read of a core");
            must(p.dirty != 0, "a home takes a line for owned that memory has");
            must(p.current != 0, "an owner answers a read with old data");
            slot = {1, p.current};
            return;
        }
        respond(p.requester, k, answer);
    }

    // The request of a core has ended; the next answers are another's.
    static void request_ends(NodeType &node, int own)
    {
        auto &r = node.r;
        const auto others = static_cast<uint8_t>(~(1 << own));
        r.asked &= others;
        r.overtaken &= others;
        r.sole = r.asked != 0 ? r.sole : 0;
        r.from_l3 = r.from_l3 != 0 && r.asked != 0;
        r.l3_current = r.from_l3 != 0 ? r.l3_current : 0;
    }

    static void answers_end(NodeType &node)
    {
        auto &r = node.r;
        r.core = r.got = r.expected = r.data = r.current = r.dirty = 0;
        r.result = AnswerType::none;
    }

    void share(int k, int own, uint8_t current)
    {
        auto &node = w_.nodes[k];
        must(node.right != Right::X, "a shared copy in a socket that has the line alone");
        must(node.g.cores == 0 || node.g.shared != 0, "a shared copy beside a grant to write");
        node.holders |= static_cast<uint8_t>(1 << own);
        node.given |= static_cast<uint8_t>(1 << own);
        node.right = node.right == Right::none ? Right::S : node.right;
        grant(k * W::kCores + own, GrantType::S, current);
    }

    void end_read(int k, NodeState state)
    {
        auto &node = w_.nodes[k];
        const auto r = node.r;
        must(r.data != 0, "a read ends without data");
        request_ends(node, r.core);
        answers_end(node);
        switch (r.result) {
        case AnswerType::EXCLUSIVE:
            pairs_.seen(state, NodeEvent::Last_Exclusive);
            must(node.holders == 0 && node.l3 == 0, "an exclusive copy beside others of the socket");
            must(node.g.cores == 0, "an exclusive copy beside a grant");
            node.right = Right::X;
            node.owner = static_cast<uint8_t>(1 + r.core);
            node.holders = node.given = static_cast<uint8_t>(1 << r.core);
            node.unblock = Unblock::X;
            grant(k * W::kCores + r.core, GrantType::E, r.current);
            break;
        case AnswerType::SHARED:
            pairs_.seen(state, NodeEvent::Last_Shared);
            node.unblock = Unblock::S;
            share(k, r.core, r.current);
            break;
        case AnswerType::OWNED:
            pairs_.seen(state, NodeEvent::Last_Owned);
            node.unblock = Unblock::O;
            share(k, r.core, r.current);
            break;
        default:
            throw Fault{"a read ends with an answer for writing"};
        }
    }

    void end_write(int k)
    {
        auto &node = w_.nodes[k];
        const auto r = node.r;
        const auto bit = static_cast<uint8_t>(1 << r.core);
        must(node.l3 == 0, "an L3 has a copy beside a writer");
        must((node.holders & ~bit) == 0, "another core of the socket has a copy beside a writer");
        must(node.g.cores == 0, "a grant to write beside another");
        request_ends(node, r.core);
        answers_end(node);
        node.right = Right::X;
        node.owner = static_cast<uint8_t>(1 + r.core);
        node.unblock = Unblock::X;
        const int c = k * W::kCores + r.core;
        if (r.data != 0) {
            grant(c, GrantType::M, r.current);
        } else if (r.from_l3 != 0) {
            grant(c, GrantType::M, r.l3_current);
        } else {
            must(node.holders == bit, "the right to write for a core without a copy");
            grant(c, GrantType::RIGHT, 0);
        }
        node.holders = node.given = bit;
    }

    // `to`: a node, or the home.
    void respond(int to, int from, Answer answer)
    {
        Answer &slot = to == W::kHome ? w_.home.answers[from] : w_.nodes[to].answers[from];
        must(slot.type == AnswerType::none, "a second answer of a node or home");
        slot = answer;
    }

    // ---- Homes ----

    bool busy() const { return w_.home.state >= HomeState::SR; }

    void send(int k, Probe probe)
    {
        auto &node = w_.nodes[k];
        must(node.probed < NodeType::kProbes, "more messages of a home to a node under way than there can be");
        node.probes[node.probed++] = probe;
    }

    void broadcast(Probe probe)
    {
        for (int k = 0; k < W::kNodes; k++) {
            if (setup_.holds(Rule::invalidation_names_given)) {
                probe.given = static_cast<uint8_t>(w_.home.given >> k * W::kCores & ((1 << W::kCores) - 1));
            }
            send(k, probe);
        }
    }

    void read_memory(int c) // for a core or the device
    {
        must(w_.home.reads[c].there == 0, "a second read of memory for a core or device");
        must(w_.home.memory != 0, "a home reads memory that is old"); // a reader may use these data, also when they come late
        w_.home.reads[c] = {1, w_.home.memory};
    }

    void hold(int c, HomeState state)
    {
        w_.home.state = state;
        w_.home.requester = static_cast<uint8_t>(node_of(c));
        w_.home.core = static_cast<uint8_t>(own_number(c));
    }

    // Memory is read for a request that holds the line till its end.
    void read_for(int c, AnswerType type, int expected)
    {
        hold(c, HomeState::BM);
        w_.home.data = static_cast<uint8_t>(type);
        w_.home.expected = static_cast<uint8_t>(expected);
        read_memory(c);
    }

    void home_read(int c, Request kind)
    {
        auto &home = w_.home;
        if (home.state == HomeState::O) {
            home.state = HomeState::OR;
            home.holders |= static_cast<uint8_t>(1 << node_of(c));
            home.given |= static_cast<uint8_t>(1 << c);
            send(home.owner, {ProbeType::READ, static_cast<uint8_t>(node_of(c)), static_cast<uint8_t>(own_number(c)), 1, 1, 0});
        } else if (home.state == HomeState::X) {
            hold(c, HomeState::B);
            send(home.owner, {ProbeType::READ, home.requester, home.core, 1, 0, 0});
        } else if (kind == Request::GETS && home.state == HomeState::U) {
            read_for(c, AnswerType::EXCLUSIVE, 1);
        } else {
            home.state = HomeState::SR;
            home.holders |= static_cast<uint8_t>(1 << node_of(c));
            home.given |= static_cast<uint8_t>(1 << c);
            read_memory(c);
        }
    }

    void home_write(int c)
    {
        auto &home = w_.home;
        const HomeState was = home.state;
        hold(c, HomeState::B);
        const auto invalidation = [&home](int expected) {
            return Probe{ProbeType::INV, home.requester, home.core, static_cast<uint8_t>(expected), 0, 0};
        };
        if (was == HomeState::U) {
            read_for(c, AnswerType::DATA, 1);
        } else if (was == HomeState::S) {
            broadcast(invalidation(W::kNodes + 1));
            read_for(c, AnswerType::DATA, W::kNodes + 1);
        } else if (was == HomeState::O) {
            broadcast(invalidation(W::kNodes));
        } else {
            send(home.owner, invalidation(1));
        }
    }

    // Every copy is called back.
    void recall(HomeState why)
    {
        auto &home = w_.home;
        const bool alone = home.state == HomeState::X;
        home.state = why;
        home.expected = alone ? 1 : W::kNodes;
        const Probe probe{ProbeType::INV, W::kHome, 0, home.expected, 0, 0};
        if (alone) {
            send(home.owner, probe);
        } else {
            broadcast(probe);
        }
    }

    void device_writes()
    {
        written(&w_.home.memory);
        w_.device.answered = 1;
    }

    W &w_;
    const Setup &setup_;
    Pairs &pairs_;
};

} // namespace mosbench::protocol

#endif
