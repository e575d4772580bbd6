// SPDX-License-Identifier: BSD-3-Clause
//
// All worlds that the protocol can reach from an empty machine, breadth first. Worlds that differ only in the numbers of nodes
// and of a node's cores are one.
#ifndef MOSBENCH_TESTS_PROTOCOL_SEARCH_H
#define MOSBENCH_TESTS_PROTOCOL_SEARCH_H

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "tests/protocol/steps.h"

namespace mosbench::protocol {

struct Found {
    size_t worlds = 0, steps = 0, depth = 0;
    bool complete = false;
    std::string fault;            // empty: none
    std::vector<std::string> way; // to the fault; numbers of nodes and cores change along it
    Pairs pairs;
};

// A renaming of nodes and of the cores in each.
template <typename W> struct Renaming {
    std::vector<uint8_t> node = std::vector<uint8_t>(W::kNodes + 1); // where a node goes; the home stays
    std::vector<std::vector<uint8_t>> core{W::kNodes, std::vector<uint8_t>(W::kCores)};

    static std::vector<Renaming> all()
    {
        std::vector<Renaming> found;
        Renaming one;
        std::iota(one.node.begin(), one.node.end(), uint8_t{0});
        do {
            for (auto &cores : one.core) {
                std::iota(cores.begin(), cores.end(), uint8_t{0});
            }
            do {
                found.push_back(one);
            } while (next_cores(one));
        } while (std::next_permutation(one.node.begin(), one.node.end() - 1));
        return found;
    }

    uint8_t nodes(uint8_t mask) const { return moved(mask, node); }
    uint8_t cores(int k, uint8_t mask) const { return moved(mask, core[k]); }

    W operator()(const W &world) const
    {
        W to = world;
        for (int k = 0; k < W::kNodes; k++) {
            auto renamed = world.nodes[k];
            renamed.holders = cores(k, renamed.holders);
            renamed.given = cores(k, renamed.given);
            if (renamed.owner != kNobody && renamed.owner != kL3) {
                renamed.owner = static_cast<uint8_t>(1 + core[k][renamed.owner - 1]);
            }
            renamed.r.asked = cores(k, renamed.r.asked);
            renamed.r.overtaken = cores(k, renamed.r.overtaken);
            if (renamed.r.got != 0) {
                renamed.r.core = core[k][renamed.r.core];
            }
            renamed.g.cores = cores(k, renamed.g.cores);
            if (renamed.p.type != ProbeType::none) {
                renamed.p.core = core_of(renamed.p.requester, renamed.p.core);
                renamed.p.requester = node[renamed.p.requester];
            }
            for (int i = 0; i < renamed.probed; i++) {
                Probe &probe = renamed.probes[i];
                probe.given = cores(k, probe.given);
                if (probe.type != ProbeType::WB_ACK) {
                    probe.core = core_of(probe.requester, probe.core);
                    probe.requester = node[probe.requester];
                }
            }
            for (int from = 0; from <= W::kNodes; from++) {
                Answer &answer = renamed.answers[node[from]] = world.nodes[k].answers[from];
                answer.core = answer.type == AnswerType::none ? 0 : core[k][answer.core];
            }
            for (int own = 0; own < W::kCores; own++) {
                renamed.requests[core[k][own]] = world.nodes[k].requests[own];
                renamed.reads[core[k][own]] = world.nodes[k].reads[own];
                to.cores[core_number(k, own)] = world.cores[k * W::kCores + own];
                to.home.reads[core_number(k, own)] = world.home.reads[k * W::kCores + own];
            }
            to.nodes[node[k]] = renamed;
        }
        const auto &home = world.home;
        to.home.holders = nodes(home.holders);
        to.home.given = 0;
        for (int c = 0; c < W::kNodes * W::kCores; c++) {
            to.home.given |= static_cast<uint8_t>((home.given >> c & 1) << core_number(c / W::kCores, c % W::kCores));
        }
        if (home.state == HomeState::B || home.state == HomeState::BM) {
            to.home.core = core[home.requester][home.core];
            to.home.requester = node[home.requester];
        }
        to.home.owner = home.holders != 0 ? node[home.owner] : home.owner;
        for (int from = 0; from < W::kNodes; from++) {
            to.home.answers[node[from]] = home.answers[from];
        }
        return to;
    }

  private:
    int core_number(int k, int own) const { return node[k] * W::kCores + core[k][own]; }
    uint8_t core_of(int k, uint8_t own) const { return k == W::kHome ? own : core[k][own]; } // k: a node or the home

    static bool next_cores(Renaming &one)
    {
        for (auto &cores : one.core) {
            if (std::next_permutation(cores.begin(), cores.end())) {
                return true;
            }
        }
        return false;
    }

    template <typename Map> static uint8_t moved(uint8_t mask, const Map &map)
    {
        uint8_t to = 0;
        for (size_t i = 0; mask >> i != 0; i++) {
            to |= static_cast<uint8_t>((mask >> i & 1) << map[i]);
        }
        return to;
    }
};

// A set of worlds by 128 bits of hash: that two worlds share one is as good as impossible for some 10^9 of them.
class Known {
  public:
    // Whether the world is new.
    template <typename W> bool insert(const W &world)
    {
        if (2 * (count_ + 1) > table_.size()) {
            grow();
        }
        const bool fresh = put(hash(world));
        count_ += fresh;
        return fresh;
    }
    size_t count() const { return count_; }

  private:
    struct Hash {
        uint64_t low, high; // high is never 0
        bool operator==(const Hash &) const = default;
    };

    template <typename W> static Hash hash(const W &world)
    {
        static_assert(std::has_unique_object_representations_v<W>);
        uint64_t low = 0x9e3779b97f4a7c15, high = 0xc2b2ae3d27d4eb4f;
        const auto *bytes = reinterpret_cast<const unsigned char *>(&world);
        for (size_t at = 0; at < sizeof world; at += sizeof(uint64_t)) {
            uint64_t word = 0;
            std::memcpy(&word, bytes + at, std::min(sizeof word, sizeof world - at));
            low = (low ^ word) * 0xff51afd7ed558ccd;
            low ^= low >> 32;
            high = (high + word) * 0xc4ceb9fe1a85ec53;
            high ^= high >> 29;
            high += low;
        }
        return {low, high | 1};
    }

    bool put(Hash hash)
    {
        size_t at = hash.low & (table_.size() - 1);
        while (table_[at].high != 0) {
            if (table_[at] == hash) {
                return false;
            }
            at = (at + 1) & (table_.size() - 1);
        }
        table_[at] = hash;
        return true;
    }

    void grow()
    {
        std::vector<Hash> old(std::max<size_t>(1024, table_.size() * 2), Hash{0, 0});
        old.swap(table_);
        for (const Hash &hash : old) {
            if (hash.high != 0) {
                put(hash);
            }
        }
    }

    std::vector<Hash> table_;
    size_t count_ = 0;
};

template <int Nodes, int Cores> class Search {
  public:
    using W = World<Nodes, Cores>;

    Search(const Setup &setup, size_t most) : setup_(setup), most_(most) {}

    Found run()
    {
        W start;
        std::memset(&start, 0, sizeof start);
        start.home.memory = 1;
        arrive(start);
        while (!frontier_.empty() && known_.count() < most_ && found_.fault.empty()) {
            std::vector<Place> now;
            now.swap(frontier_);
            for (const Place &place : now) {
                from(place);
                if (!found_.fault.empty()) {
                    break;
                }
            }
            found_.depth++;
        }
        found_.worlds = known_.count();
        found_.complete = frontier_.empty() && found_.fault.empty();
        return std::move(found_);
    }

  private:
    struct Place {
        W world;
        uint32_t number; // of the step that led here
    };
    struct Step {
        uint32_t before;
        const char *name;
        int number;
    };

    void arrive(const W &world)
    {
        W least = world;
        for (const auto &renaming : renamings_) {
            const W renamed = renaming(world);
            if (std::memcmp(&renamed, &least, sizeof least) < 0) {
                least = renamed;
            }
        }
        if (known_.insert(least)) {
            frontier_.push_back({least, static_cast<uint32_t>(steps_.size())});
            steps_.push_back(step_);
        }
    }

    // `step` gets the world to change and says whether it did. Progress: no wish, but what the protocol does by itself.
    template <typename F> void take(const char *name, int number, bool progress, F step)
    {
        if (!found_.fault.empty()) {
            return;
        }
        step_ = {here_->number, name, number};
        W world = here_->world;
        Steps<W> steps(world, setup_, found_.pairs);
        try {
            if (step(steps)) {
                steps.check();
                moved_ = moved_ || progress;
                found_.steps++;
                arrive(world);
            }
        } catch (const Fault &fault) {
            blame(fault.what, true);
        }
    }

    void blame(const std::string &what, bool with_step)
    {
        found_.fault = what;
        std::vector<std::string> way;
        auto add = [&way](const Step &step) { way.push_back(std::string(step.name) + ' ' + std::to_string(step.number)); };
        if (with_step) {
            add(step_);
        }
        for (uint32_t at = here_->number; at != 0; at = steps_[at].before) {
            add(steps_[at]);
        }
        found_.way.assign(way.rbegin(), way.rend());
    }

    void from(const Place &place)
    {
        here_ = &place;
        moved_ = false;
        for (int c = 0; c < Nodes * Cores; c++) {
            core(c);
        }
        for (int k = 0; k < Nodes; k++) {
            node(k);
        }
        home();
        W world = place.world;
        if (found_.fault.empty() && !moved_ && Steps<W>(world, setup_, found_.pairs).pending()) {
            blame("deadlock", false);
        }
    }

    void core(int c)
    {
        const Core &core = here_->world.cores[c];
        if (stable(core.state) && core.grant.type == GrantType::none && core.request == Request::none) {
            wishes(c);
        }
        if (looks_up(core.state)) {
            take("look-up ends", c, true, [=](auto &s) { return s.end_lookup(c), true; });
        }
        capacity(core.state);
        if (core.request != Request::none) {
            take("node takes request of core", c, true, [=](auto &s) { return s.request(c); });
        }
        const int choices = setup_.holds(Rule::reports_in_order) ? std::min<int>(core.reported, 1) : core.reported;
        for (int i = 0; i < choices; i++) {
            take("node takes report of core", c, true, [=](auto &s) { return s.reported(c, i, true), true; });
            if (core.reports[i].type == ReportType::VICTIM && !owns(core.reports[i].state)) {
                take("node takes victim, not kept, of core", c, true, [=](auto &s) { return s.reported(c, i, false), true; });
            }
        }
        if (core.probe != ProbeType::none) {
            take("probe at core", c, true, [=](auto &s) { return s.probed(c), true; });
        }
        if (core.grant.type != GrantType::none) {
            take("grant at core", c, true, [=](auto &s) { return s.granted(c), true; });
        }
    }

    void wishes(int c)
    {
        const Core &core = here_->world.cores[c];
        if (core.state == CoreState::I) {
            take("load of core", c, false,
                 [=](auto &s) { return s.ask(c, CoreEvent::Load, CoreState::IS, Request::GETS), true; });
            take("store of core", c, false,
                 [=](auto &s) { return s.ask(c, CoreEvent::Store, CoreState::IM, Request::GETX), true; });
            if (setup_.fetches) {
                take("fetch of core", c, false,
                     [=](auto &s) { return s.ask(c, CoreEvent::Ifetch, CoreState::IS, Request::GETI), true; });
            }
            return;
        }
        take("load of core", c, false, [=](auto &s) { return s.hit(c, CoreEvent::Load), true; });
        if (setup_.fetches) {
            take("fetch of core", c, false, [=](auto &s) { return s.hit(c, CoreEvent::Ifetch), true; });
        }
        if (may_write(core.state)) {
            take("store of core", c, false, [=](auto &s) { return s.hit(c, CoreEvent::Store), true; });
        } else {
            const CoreState next = core.state == CoreState::S ? CoreState::SM : CoreState::OM;
            take("store of core", c, false, [=](auto &s) { return s.ask(c, CoreEvent::Store, next, Request::UPG), true; });
        }
        if (core.reported < 2) {
            take("victim of core", c, false, [=](auto &s) { return s.evict(c), true; });
        }
        if (setup_.lookups) {
            take("look-up of core", c, false, [=](auto &s) { return s.start_lookup(c), true; });
        }
    }

    // What a core does for want of room leaves this line as it is, or waits for it: moves between its levels, a victim that
    // cannot leave yet, a request that meets its own look-up.
    void capacity(CoreState state)
    {
        Pairs &pairs = found_.pairs;
        if (looks_up(state)) {
            pairs.seen(state, CoreEvent::Lookup);
            pairs.seen(state, CoreEvent::L2_Evict);
        } else if (state != CoreState::I) {
            pairs.seen(state, CoreEvent::L1_to_L2);
            if (stable(state) && setup_.lookups) {
                pairs.seen(state, CoreEvent::L2_to_L1D);
                if (setup_.fetches) {
                    pairs.seen(state, CoreEvent::L2_to_L1I);
                }
            }
        }
    }

    void node(int k)
    {
        const auto &node = here_->world.nodes[k];
        const int choices = setup_.holds(Rule::probes_in_order) ? std::min<int>(node.probed, 1) : node.probed;
        for (int i = 0; i < choices; i++) {
            take("node takes message of home", k, true, [=](auto &s) { return s.probe(k, i); });
        }
        for (int from = 0; from <= Nodes; from++) {
            if (node.answers[from].type != AnswerType::none) {
                take("node takes answer", k, true, [=](auto &s) { return s.answer(k, from), true; });
            }
        }
        for (int own = 0; own < Cores; own++) {
            const int c = k * Cores + own;
            if (node.reads[own].there != 0) {
                take("node takes data for core", c, true, [=](auto &s) { return s.read_answered(k, own); });
            }
            if (node.requests[own].kind != Request::none) {
                take("home takes request of core", c, true, [=](auto &s) { return s.request_at_home(k, own); });
            }
        }
        if (node.put.there != 0) {
            take("home takes writeback of node", k, true, [=](auto &s) { return s.put_at_home(k); });
        }
        if (node.unblock != Unblock::none) {
            take("home takes end of request of node", k, true, [=](auto &s) { return s.unblock_at_home(k), true; });
        }
        const bool idle = node.p.type == ProbeType::none && node.w.open == 0 && node.g.cores == 0;
        const bool under_request = node.r.asked != 0 && node.owner == kL3 && setup_.holds(Rule::owner_kept_under_request);
        if (node.l3 != 0 && idle && !under_request) {
            take("L3 evicts at node", k, false, [=](auto &s) { return s.l3_evict(k), true; });
        }
    }

    void home()
    {
        const auto &home = here_->world.home;
        for (int c = 0; c <= Nodes * Cores; c++) {
            if (home.reads[c].there != 0) {
                take("memory answers", c, true, [=](auto &s) { return s.memory_answers(c), true; });
            }
        }
        for (int k = 0; k < Nodes; k++) {
            if (home.answers[k].type != AnswerType::none) {
                take("home takes answer of node", k, true, [=](auto &s) { return s.answer_at_home(k), true; });
            }
        }
        if (home.state == HomeState::SR || home.state == HomeState::OR) {
            take("home is free to read again", 0, true, [](auto &s) { return s.timer(), true; });
        }
        if (home.state == HomeState::S || home.state == HomeState::O || home.state == HomeState::X) {
            take("filter evicts", 0, false, [](auto &s) { return s.filter_evict(), true; });
        } else if (home.state == HomeState::SR || home.state == HomeState::OR || home.state == HomeState::BM ||
                   home.state == HomeState::B || home.state == HomeState::F || home.state == HomeState::DR ||
                   home.state == HomeState::DW) {
            found_.pairs.seen(home.state, HomeEvent::Evict); // waits
        }
        if (setup_.devices) {
            device();
        }
    }

    void device()
    {
        const Device &device = here_->world.device;
        if (device.waits == DeviceWants::nothing) {
            take("device reads", 0, false, [](auto &s) { return s.device_asks(DeviceWants::read), true; });
            take("device writes", 0, false, [](auto &s) { return s.device_asks(DeviceWants::write), true; });
        }
        if (device.asks != DeviceWants::nothing) {
            take("home takes request of device", 0, true, [](auto &s) { return s.device_at_home(); });
        }
        if (device.answered != 0) {
            take("device takes answer", 0, true, [](auto &s) { return s.device_takes(), true; });
        }
    }

    const Setup setup_;
    const size_t most_;
    const std::vector<Renaming<W>> renamings_ = Renaming<W>::all();
    Known known_;
    std::vector<Place> frontier_;
    std::vector<Step> steps_;
    Step step_{0, "start", 0};
    const Place *here_ = nullptr;
    bool moved_ = false;
    Found found_;
};

// Nodes times cores for each: 1 1, 1 2, 1 3, 2 1, 2 2, 3 1; nothing for others.
std::optional<Found> search(int nodes, int cores, const Setup &setup, size_t most);

} // namespace mosbench::protocol

#endif
