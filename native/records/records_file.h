// SPDX-License-Identifier: BSD-3-Clause
//
// From the counters to the tables of the records file: rows sorted by their keys, so that equal runs give equal bytes.
#ifndef MOSBENCH_NATIVE_RECORDS_RECORDS_FILE_H
#define MOSBENCH_NATIVE_RECORDS_RECORDS_FILE_H

#include <functional>
#include <string>

#include "native/records/column_file.h"
#include "native/records/records.h"

namespace mosbench {

// `physical` gives the guest physical byte address of a line number. Returns as write_tables.
std::string write_records(const std::string &path, const FileHeader &header, const Records &records,
                          const std::function<uint64_t(uint32_t line)> &physical);

} // namespace mosbench

#endif
