// SPDX-License-Identifier: BSD-3-Clause
//
// What schema.h says of tables and columns, in types that a writer can use.
#ifndef MOSBENCH_NATIVE_RECORDS_COLUMN_H
#define MOSBENCH_NATIVE_RECORDS_COLUMN_H

#include <cstddef>
#include <cstdint>

namespace mosbench {

// A column of the table called `table`, with values of type T.
template <typename T> struct Column {
    const char *table, *name;
};

struct ColumnSchema {
    const char *name, *type;
    bool optional; // may be unknown: to an engine, or without a setting
};

struct TableSchema {
    template <size_t count> constexpr TableSchema(const char *called, const ColumnSchema (&all)[count])
        : name(called), columns(all), size(count)
    {
    }

    const char *name;
    const ColumnSchema *columns; // in the order in which the file has them
    size_t size;
};

} // namespace mosbench

#endif
