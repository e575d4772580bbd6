// SPDX-License-Identifier: BSD-3-Clause
//
// protocol-search NODES CORES [devices] [fetches] [lookups] [without=RULE] [most=WORLDS] [pairs]
//
// Searches a machine of NODES sockets of CORES cores each. Exit status 1: a fault was found, 2: bad arguments, 3: the search was
// cut short. "pairs" prints a line "pair MACHINE STATE EVENT" for each pair that was reached.
#include <cstdlib>
#include <iostream>
#include <string>

#include "tests/protocol/search.h"

using namespace mosbench::protocol;

namespace {

int usage(const std::string &what)
{
    std::cerr << what << "\nprotocol-search NODES CORES [devices] [fetches] [lookups] [without=RULE] [most=WORLDS] [pairs]\n";
    return 2;
}

} // namespace

int main(int count, char **arguments)
{
    if (count < 3) {
        return usage("The numbers of sockets and of cores are missing.");
    }
    Setup setup;
    size_t most = size_t{1} << 30;
    bool pairs = false;
    for (int i = 3; i < count; i++) {
        const std::string word = arguments[i];
        if (word == "devices") {
            setup.devices = true;
        } else if (word == "fetches") {
            setup.fetches = true;
        } else if (word == "lookups") {
            setup.lookups = true;
        } else if (word == "pairs") {
            pairs = true;
        } else if (word.rfind("most=", 0) == 0) {
            most = std::strtoull(word.c_str() + 5, nullptr, 10);
        } else if (word.rfind("without=", 0) == 0) {
            const auto rule = std::find(kRules.begin(), kRules.end(), word.substr(8));
            if (rule == kRules.end()) {
                return usage("There is no rule \"" + word.substr(8) + "\".");
            }
            setup = setup.without(static_cast<Rule>(rule - kRules.begin()));
        } else {
            return usage("What \"" + word + "\" means is not known.");
        }
    }
    const auto found = search(std::atoi(arguments[1]), std::atoi(arguments[2]), setup, most);
    if (!found) {
        return usage("There is no search for such a machine; 1 1, 1 2, 1 3, 2 1, 2 2, 3 1 are.");
    }
    if (pairs) {
        for (const std::string &name : found->pairs.names()) {
            std::cout << "pair " << name << '\n';
        }
    }
    std::cout << "worlds " << found->worlds << " steps " << found->steps << " depth " << found->depth
              << (found->complete ? " complete\n" : " not complete\n");
    if (!found->fault.empty()) {
        std::cout << "fault: " << found->fault << '\n';
        for (const std::string &step : found->way) {
            std::cout << "  " << step << '\n';
        }
        return 1;
    }
    return found->complete ? 0 : 3;
}
