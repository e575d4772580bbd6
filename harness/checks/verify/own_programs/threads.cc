// SPDX-License-Identifier: BSD-3-Clause
// Threads of the C++ library that add to one variable; no mark.
#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

namespace app
{
std::atomic<long> shared_total;

struct Counter {
    static __attribute__((noinline)) void hammer(long times)
    {
        for (long i = 0; i < times; i++)
            shared_total.fetch_add(1);
    }
};
} // namespace app

int main(int argc, char **argv)
{
    const int threads = argc > 1 ? std::atoi(argv[1]) : 4;
    std::vector<std::thread> all;

    for (int i = 0; i < threads; i++)
        all.emplace_back(app::Counter::hammer, 20011);
    for (auto &one : all)
        one.join();
    return app::shared_total == threads * 20011L ? 0 : 1;
}
