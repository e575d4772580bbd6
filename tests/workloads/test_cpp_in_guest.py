# SPDX-License-Identifier: BSD-3-Clause
"""A workload of one's own in C++: threads, exceptions, the library's containers; right in the guest of each kernel, and named."""

from pathlib import Path

import pytest

from analysis.attribute.tables import read_table
from common.json_files import read_json
from harness.checks.verify.measuring import point
from harness.cli.workload import write
from harness.run import runner
from harness.spec.kernel import default_source

_ADDITIONS = 20_011

_SOURCE = """// SPDX-License-Identifier: BSD-3-Clause
#include <atomic>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "roi.h"
#include "workers.h"

namespace mine
{
template <typename T> struct Counter {
    std::atomic<T> additions{0};

    __attribute__((noinline)) void add(T times)
    {
        for (T i = 0; i < times; i++)
            additions.fetch_add(1, std::memory_order_relaxed);
    }
};

Counter<uint64_t> shared;

uint64_t setting(const char *name)
{
    const long long value = std::stoll(text_setting(name));

    if (value < 1)
        throw std::invalid_argument(name);
    return static_cast<uint64_t>(value);
}
} // namespace mine

int main()
{
    int cores[MAX_WORKERS];
    const unsigned count = read_cores(cores);
    const uint64_t times = mine::setting("P_ITERATIONS");
    std::map<unsigned, std::string> met;
    std::vector<std::thread> threads;
    std::vector<uint64_t> cycles(count);

    roi_begin();
    for (unsigned i = 0; i < count; i++)
        threads.emplace_back([&, i] {
            pin(cores[i]);
            const uint64_t start = roi_cycles();
            mine::shared.add(times);
            cycles[i] = roi_cycles() - start;
        });
    for (auto &one : threads)
        one.join();
    roi_end();
    for (unsigned i = 0; i < count; i++)
        try {
            met[i] = std::string("core ") + std::to_string(cores[i]);
            throw std::runtime_error(met[i]);
        } catch (const std::exception &error) {
            met[i] = error.what();
        }
    const std::vector<uint64_t> per_core(count, times);
    const uint64_t sum = std::accumulate(per_core.begin(), per_core.end(), uint64_t{0});
    const auto join = [](const auto &text, const auto &one) { return text + " " + one.second; };
    const std::string detail = std::accumulate(met.begin(), met.end(), std::string("added on"), join);
    struct roi_result result = {};

    result.units = sum;
    result.unit = "additions";
    result.cores = count;
    result.per_core = per_core.data();
    result.cycles_per_core = cycles.data();
    result.cpus = cores;
    result.checked = mine::shared.additions == sum;
    result.detail = detail.c_str();
    return roi_result(&result) ? 0 : 1;
}
"""


@pytest.mark.guest
@pytest.mark.parametrize("source", [default_source(), pytest.param("linux-2.6.35", marks=pytest.mark.linux_2_6_35)])
def test_right_and_named(source: str, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    write(folder)
    (folder / "src" / "mine.c").unlink()
    (folder / "src" / "mine.cc").write_text(_SOURCE, encoding="utf-8")
    wanted = point(f'workload="{folder}:shared:iterations={_ADDITIONS}" * machine=small-2x2 * cores=4 * kernel={source}:stock')
    ran = runner.run_point(wanted, tmp_path / "runs")
    metrics = read_json(ran.folder / "metrics.json")
    assert metrics["units"] == 4 * _ADDITIONS
    assert [one["units"] for one in metrics["per_core"]] == [_ADDITIONS] * 4
    assert "added on core 0 core 1 core 2 core 3" in (ran.folder / "console.log").read_text(encoding="utf-8")
    hot = max(
        read_table(ran.folder, "sites", ["function", "field", "transfers_other_socket"]).to_pylist(),
        key=lambda row: row["transfers_other_socket"],
    )
    assert hot["function"] == "mine::Counter<unsigned long>::add"
    assert hot["field"] == "user memory: mine::shared (mine)"
