// SPDX-License-Identifier: BSD-3-Clause
//
// A reader of records files that shares nothing with the writer.
#ifndef MOSBENCH_TESTS_NATIVE_READ_RECORDS_H
#define MOSBENCH_TESTS_NATIVE_READ_RECORDS_H

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace mosbench::test {

using Columns = std::map<std::string, std::vector<uint64_t>>;

struct RecordsFile {
    std::string header; // JSON
    std::map<std::string, Columns> tables;
    std::map<std::string, std::string> unknown; // of each table: names in quotes, with commas between
};

// Throws std::runtime_error where the file is not as the format says.
RecordsFile read_records(const std::string &path);
std::string read_bytes(const std::string &path);

} // namespace mosbench::test

#endif
