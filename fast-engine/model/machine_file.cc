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
#include "native/records/records.h"

namespace mosbench {

namespace {

constexpr uint32_t kLineBytes = 64;

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

    const std::string &text(const std::string &key) const
    {
        const auto found = values_.find(key);
        if (found == values_.end()) {
            throw MachineError(key + " is missing; every key of the machine must be given");
        }
        return found->second;
    }

    uint32_t whole(const std::string &key, uint32_t least, uint32_t most) const
    {
        return number<uint32_t>(key, least, most, "a whole number");
    }

    double real(const std::string &key, double least, double most) const { return number<double>(key, least, most, "a number"); }

    [[noreturn]] void refuse(const std::string &key, const std::string &allowed) const
    {
        throw MachineError(key + " is \"" + text(key) + "\"; allowed: " + allowed);
    }

  private:
    template <typename T> T number(const std::string &key, T least, T most, const char *what) const
    {
        const std::string &digits = text(key);
        T value{};
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        if (error != std::errc{} || end != digits.data() + digits.size() || !(value >= least && value <= most)) {
            std::ostringstream allowed;
            allowed << what << " from " << least << " to " << most;
            refuse(key, allowed.str());
        }
        return value;
    }

    std::map<std::string, std::string> values_;
};

// `bytes` of lines or entries in sets of `ways`; a wrong shape is blamed on `key`.
CacheShape shape(const Values &values, const std::string &key, uint64_t entries, uint32_t ways, uint32_t most_sets)
{
    const uint64_t sets = entries / ways;
    if (sets * ways != entries || !std::has_single_bit(sets) || sets > most_sets) {
        values.refuse(key, "a size that gives a power of two of at most " + std::to_string(most_sets) + " sets with " +
                               std::to_string(ways) + " ways (it gives " + std::to_string(entries) + " entries)");
    }
    return {static_cast<uint32_t>(sets), ways};
}

CacheShape cache(const Values &values, const std::string &level, uint32_t most_ways, uint32_t most_sets)
{
    const uint32_t kib = values.whole(level + "_kib", 1, 1u << 20);
    const uint32_t ways = values.whole(level + "_ways", 1, most_ways);
    return shape(values, level + "_kib", uint64_t{kib} * 1024 / kLineBytes, ways, most_sets);
}

// The probe filter lives in some ways of the L3.
void read_l3(const Values &values, Machine &machine)
{
    const uint32_t kib = values.whole("l3_kib", 2, 1u << 20);
    const uint32_t ways = values.whole("l3_ways", 2, 128);
    const uint32_t filter_kib = values.whole("probe_filter_kib", 1, kib - 1);
    const uint64_t kept = uint64_t{ways} * (kib - filter_kib);
    if (kept % kib != 0 || kept == 0) {
        values.refuse("probe_filter_kib", "a size that is a whole number of the L3's ways, each " + std::to_string(kib) + "/" +
                                              std::to_string(ways) + " KiB");
    }
    const uint32_t kept_ways = static_cast<uint32_t>(kept / kib);
    machine.l3 = shape(values, "l3_kib", uint64_t{kib - filter_kib} * 1024 / kLineBytes, kept_ways, 1u << 20);
    const uint32_t entry_bytes = values.whole("probe_filter_entry_bytes", 1, 64);
    machine.probe_filter = shape(values, "probe_filter_kib", uint64_t{filter_kib} * 1024 / entry_bytes,
                                 values.whole("probe_filter_ways", 1, 16), 1u << 24);
}

void read_links(const Values &values, Machine &machine)
{
    const std::string allowed = "pairs of different sockets below " + std::to_string(machine.sockets) +
                                " such as \"0-1 1-2\", each pair once, that connect all sockets";
    std::vector<uint32_t> group(machine.sockets);
    for (uint32_t socket = 0; socket < machine.sockets; socket++) {
        group[socket] = socket;
    }
    std::istringstream pairs(values.text("links"));
    for (std::string pair; pairs >> pair;) {
        std::istringstream in(pair);
        uint32_t a = 0, b = 0;
        char dash = 0;
        if (!(in >> a >> dash >> b) || dash != '-' || !in.eof() || a >= machine.sockets || b >= machine.sockets || a == b) {
            values.refuse("links", allowed);
        }
        for (const auto &[c, d] : machine.links) {
            if ((a == c && b == d) || (a == d && b == c)) {
                values.refuse("links", allowed);
            }
        }
        machine.links.emplace_back(a, b);
        for (uint32_t &of : group) {
            of = of == group[b] && of != group[a] ? group[a] : of;
        }
    }
    for (uint32_t of : group) {
        if (of != group[0]) {
            values.refuse("links", allowed);
        }
    }
}

std::string read_name(const Values &values)
{
    const std::string &name = values.text("name");
    const char *plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    if (name.empty() || name.find_first_not_of(plain) != name.npos) {
        values.refuse("name", "letters, digits, '.', '_' and '-'");
    }
    return name;
}

bool one_of(const Values &values, const std::string &key, const char *no, const char *yes)
{
    const std::string &value = values.text(key);
    if (value != no && value != yes) {
        values.refuse(key, std::string(no) + " or " + yes);
    }
    return value == yes;
}

} // namespace

Machine parse_machine(const std::string &text)
{
    const Values values(text);
    constexpr uint32_t most_cycles = 1'000'000;
    Machine machine{};
    machine.name = read_name(values);
    machine.sockets = values.whole("sockets", 1, kMaxSockets);
    machine.cores_per_socket = values.whole("cores_per_socket", 1, kMaxCores / machine.sockets);
    machine.clock_ghz = values.real("clock_ghz", 0.1, 10);
    values.whole("line_bytes", kLineBytes, kLineBytes);
    machine.l1d = cache(values, "l1d", 16, MODEL_MAX_SETS);
    machine.l1i = cache(values, "l1i", 16, MODEL_MAX_SETS);
    machine.l2 = cache(values, "l2", 64, 1u << 20);
    read_l3(values, machine);
    machine.l1_cycles = values.whole("l1_cycles", 1, most_cycles);
    machine.l2_cycles = values.whole("l2_cycles", machine.l1_cycles, most_cycles);
    machine.l3_cycles = values.whole("l3_cycles", machine.l2_cycles, most_cycles);
    machine.dram_local_cycles = values.whole("dram_local_cycles", machine.l1_cycles, most_cycles);
    machine.hop_cycles = values.whole("hop_cycles", 0, most_cycles);
    machine.transfer_cycles = values.whole("transfer_cycles", machine.l1_cycles, most_cycles);
    machine.read_busy_cycles = values.whole("read_busy_cycles", 1, most_cycles);
    read_links(values, machine);
    machine.link_gbytes_per_second = values.real("link_gbytes_per_second", 0.01, 10'000);
    machine.dram_gbytes_per_second = values.real("dram_gbytes_per_second", 0.01, 10'000);
    machine.node_mib = values.whole("node_mib", 1, (1u << 18) / machine.sockets); // line numbers have 32 bits
    machine.interleave_lines = one_of(values, "interleave", "node", "line");
    machine.sample_period_cycles = values.whole("sample_period_cycles", 1, UINT32_MAX);
    machine.count_hits = one_of(values, "count_hits", "0", "1");
    machine.trial = values.whole("trial", 1, UINT32_MAX);
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
