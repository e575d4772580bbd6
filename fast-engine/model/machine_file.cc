// SPDX-License-Identifier: GPL-2.0-or-later
#include "fast-engine/model/machine_file.h"

#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

#include "fast-engine/model/model_abi.h"

namespace mosbench {

namespace {

// Keys that others of the engine take (QEMU's part, its command line), and those that resolved values stand for here.
constexpr const char *kOthers[] = {"atomic_cycles",    "caches_from",
                                   "disk_latency_us",  "disk_mbytes_per_second",
                                   "l1d_kib",          "l1i_kib",
                                   "l2_kib",           "l3_kib",
                                   "l3_ways",          "line_bytes",
                                   "issue_width",      "jump_cycles",
                                   "pause_cycles",     "probe_filter_entry_bytes",
                                   "probe_filter_kib", "serializing_cycles",
                                   "tlb_entries"};

class Values {
  public:
    explicit Values(const std::string &text)
    {
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) {
            const size_t space = line.find(' ');
            if (!line.empty() &&
                !values_.emplace(line.substr(0, space), space == line.npos ? "" : line.substr(space + 1)).second) {
                throw MachineError(line.substr(0, space) + " is given twice; give it once");
            }
        }
    }

    // Each key is taken once.
    std::string text(const std::string &key)
    {
        const auto found = values_.find(key);
        if (found == values_.end()) {
            throw MachineError(key + " is missing; every key that the engine takes must be given");
        }
        std::string value = std::move(found->second);
        values_.erase(found);
        return value;
    }

    // The key's value, or nothing; it is not taken.
    std::string seen(const std::string &key) const
    {
        const auto found = values_.find(key);
        return found == values_.end() ? "" : found->second;
    }

    uint32_t whole(const std::string &key) { return number<uint32_t>(key, text(key), "a whole number"); }
    double real(const std::string &key) { return number<double>(key, text(key), "a number"); }

    // For each two sockets, row after row.
    SocketTable table(const std::string &key, uint32_t sockets)
    {
        const std::string all = text(key);
        std::istringstream words(all);
        SocketTable table{};
        std::string word;
        for (uint32_t from = 0; from < sockets; from++) {
            for (uint32_t to = 0; to < sockets; to++) {
                word.clear();
                words >> word;
                table[from][to] = number<uint32_t>(key, word, "a whole number for each two sockets");
            }
        }
        if (words >> word) {
            refuse(key, all, "a whole number for each two sockets");
        }
        return table;
    }

    // Keys of the network card, which reads them itself (native/nic).
    void drop_card()
    {
        std::erase_if(values_, [](const auto &value) { return value.first.starts_with("nic_"); });
    }

    // After the last key.
    void expect_end() const
    {
        if (!values_.empty()) {
            throw MachineError(values_.begin()->first + " is not a key that the engine takes");
        }
    }

    [[noreturn]] static void refuse(const std::string &key, const std::string &value, const std::string &wanted)
    {
        throw MachineError(key + " is \"" + value + "\", not " + wanted);
    }

  private:
    template <typename T> static T number(const std::string &key, const std::string &digits, const char *what)
    {
        T value{};
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        if (error != std::errc{} || end != digits.data() + digits.size()) {
            refuse(key, digits, what);
        }
        return value;
    }

    std::map<std::string, std::string> values_;
};

// A number that something of the model is sized by.
uint32_t at_most(Values &values, const std::string &key, uint32_t most, uint32_t least = 1)
{
    const uint32_t value = values.whole(key);
    if (value < least || value > most) {
        Values::refuse(key, std::to_string(value),
                       "one of the " + std::to_string(least) + " to " + std::to_string(most) + " that the model has room for");
    }
    return value;
}

CacheShape shape(Values &values, const std::string &sets_key, const std::string &ways_key, uint32_t most_sets = 1u << 31)
{
    const uint32_t sets = at_most(values, sets_key, most_sets);
    if (!std::has_single_bit(sets)) { // a set is found by the low bits of a line's number
        Values::refuse(sets_key, std::to_string(sets), "a power of two");
    }
    return {sets, at_most(values, ways_key, UINT32_MAX)};
}

// Without a probe filter it has no sets.
CacheShape probe_filter_shape(Values &values)
{
    if (values.seen("probe_filter_sets") != "0") {
        return shape(values, "probe_filter_sets", "probe_filter_ways");
    }
    values.text("probe_filter_sets");
    return {0, at_most(values, "probe_filter_ways", UINT32_MAX)};
}

std::vector<std::pair<uint32_t, uint32_t>> read_links(Values &values, uint32_t sockets)
{
    const std::string text = values.text("links");
    std::vector<std::pair<uint32_t, uint32_t>> links;
    std::istringstream pairs(text);
    for (std::string pair; pairs >> pair;) {
        std::istringstream in(pair);
        uint32_t a = 0, b = 0;
        char dash = 0;
        if (!(in >> a >> dash >> b) || dash != '-' || !in.eof() || a >= sockets || b >= sockets) {
            Values::refuse("links", text, "pairs of sockets such as \"0-1 1-2\"");
        }
        links.emplace_back(a, b);
    }
    return links;
}

// A packet goes from socket to socket with ever fewer links to come; there is always a next one.
void expect_routes(const Machine &machine)
{
    for (uint32_t to = 0; to < machine.sockets; to++) {
        std::array<bool, kMaxSockets> nearer{};
        for (const auto &[a, b] : machine.links) {
            nearer[a] |= machine.hops[b][to] + 1 == machine.hops[a][to];
            nearer[b] |= machine.hops[a][to] + 1 == machine.hops[b][to];
        }
        for (uint32_t from = 0; from < machine.sockets; from++) {
            if (from != to && !nearer[from]) {
                throw MachineError("hops are not those of the links: from socket " + std::to_string(from) + " none leads to " +
                                   std::to_string(to));
            }
        }
    }
}

bool one_of(Values &values, const std::string &key, const char *no, const char *yes)
{
    const std::string value = values.text(key);
    if (value != no && value != yes) {
        Values::refuse(key, value, std::string(no) + " or " + yes);
    }
    return value == yes;
}

} // namespace

Machine parse_machine(const std::string &text)
{
    Values values(text);
    Machine machine{};
    machine.name = values.text("name");
    machine.sockets = at_most(values, "sockets", kMaxSockets);
    machine.cores_per_socket = at_most(values, "cores_per_socket", kMaxCores / machine.sockets);
    machine.clock_ghz = values.real("clock_ghz");
    machine.l1d = shape(values, "l1d_sets", "l1d_ways", MODEL_MAX_SETS);
    machine.l1i = shape(values, "l1i_sets", "l1i_ways", MODEL_MAX_SETS);
    machine.l2 = shape(values, "l2_sets", "l2_ways");
    machine.l3 = shape(values, "l3_sets", "l3_line_ways");
    machine.probe_filter = probe_filter_shape(values);
    machine.l1_cycles = values.whole("l1_cycles");
    machine.l2_cycles = values.whole("l2_cycles");
    machine.l3_cycles = values.whole("l3_cycles");
    machine.dram_local_cycles = values.whole("dram_local_cycles");
    machine.hop_cycles = values.whole("hop_cycles");
    machine.transfer_cycles = values.whole("transfer_cycles");
    machine.read_busy_cycles = values.whole("read_busy_cycles");
    machine.links = read_links(values, machine.sockets);
    machine.hops = values.table("hops", machine.sockets);
    machine.memory_cycles = values.table("memory_cycles", machine.sockets);
    machine.link_gbytes_per_second = values.real("link_gbytes_per_second");
    machine.dram_gbytes_per_second = values.real("dram_gbytes_per_second");
    machine.node_mib = values.whole("node_mib");
    machine.interleave_lines = one_of(values, "interleave", "node", "line");
    machine.sample_period_cycles = values.whole("sample_period_cycles");
    machine.chain_period_transfers = values.whole("chain_period_transfers");
    machine.count_hits = one_of(values, "count_hits", "0", "1");
    machine.trial = values.whole("trial");
    machine.works_ahead = one_of(values, "core", "in-order", "interval");
    machine.window_instructions = values.whole("window_instructions");
    machine.hidden_cycles = values.whole("hidden_cycles");
    machine.outstanding_misses = at_most(values, "outstanding_misses", kMostOutstanding);
    machine.outstanding_stores = at_most(values, "outstanding_stores", kMostOutstanding);
    machine.code_prefetch_lines = at_most(values, "code_prefetch_lines", kMostCodePrefetch, 0);
    machine.store_buffer_entries = at_most(values, "store_buffer_entries", kMostStoreBuffer);
    for (const char *key : kOthers) {
        values.text(key);
    }
    values.drop_card();
    values.expect_end();
    expect_routes(machine);
    return machine;
}

Machine load_machine(const std::string &path)
{
    std::ifstream file(path);
    std::ostringstream text;
    if (!file || !(text << file.rdbuf())) {
        throw MachineError("cannot read the machine file " + path + ": " + std::strerror(errno));
    }
    try {
        return parse_machine(text.str());
    } catch (const MachineError &error) {
        throw MachineError("machine file " + path + ": " + error.what());
    }
}

} // namespace mosbench
