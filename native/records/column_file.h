// SPDX-License-Identifier: BSD-3-Clause
//
// The records file: a magic line, a line of JSON that names tables and columns, the columns one after the other as little-endian
// arrays, and the CRC-32 of all that. Tables and columns are those of schema.toml: each column is there or said to be unknown.
#ifndef MOSBENCH_NATIVE_RECORDS_COLUMN_FILE_H
#define MOSBENCH_NATIVE_RECORDS_COLUMN_FILE_H

#include <cstdint>
#include <cstdio>
#include <functional>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "native/records/column.h"

namespace mosbench {

// Bytes to a file with a running CRC. Errors are kept until close().
class Sink {
  public:
    explicit Sink(const std::string &path);
    ~Sink();
    Sink(const Sink &) = delete;
    Sink &operator=(const Sink &) = delete;

    template <typename T> void put(T value)
    {
        static_assert(std::is_integral_v<T>);
        if (room_ - used_ < sizeof value) {
            flush();
        }
        __builtin_memcpy(buffer_.data() + used_, &value, sizeof value); // hosts are x86-64: little endian
        used_ += sizeof value;
    }
    void put_text(const std::string &text);
    // Appends the CRC and closes. An empty string, or what went wrong.
    std::string close();

  private:
    void flush();

    static constexpr size_t room_ = 1u << 16;
    std::FILE *file_;
    std::vector<unsigned char> buffer_;
    size_t used_ = 0;
    uint32_t crc_ = 0;
    int error_ = 0;
};

// The contents of one table. Faults of who fills it are kept until fault().
class Table {
  public:
    Table(const TableSchema &schema, size_t rows) : schema_(schema), rows_(rows), columns_(schema.size) {}

    // The column's value in row i is value(i).
    template <typename T, typename Value> void column(const Column<T> &column, Value value)
    {
        static_assert(std::is_unsigned_v<T>);
        if (Contents *contents = find(column.table, column.name)) {
            contents->write = [value, rows = rows_](Sink &sink) {
                for (size_t i = 0; i < rows; i++) {
                    sink.put(static_cast<T>(value(i)));
                }
            };
        }
    }

    // The column is not known in any row: the file says so, and has no numbers for it.
    template <typename T> void unknown(const Column<T> &column) { set_unknown(column.table, column.name); }
    void set_unknown(const std::string &table, const std::string &column);

    const char *name() const { return schema_.name; }
    // An empty string, or a sentence: a column that the table does not have, or that is neither filled nor unknown.
    std::string fault() const;
    std::string json() const;
    void write(Sink &sink) const;

  private:
    struct Contents {
        std::function<void(Sink &)> write; // empty: not filled, or unknown
        bool unknown = false;
    };
    Contents *find(const std::string &table, const std::string &column);

    const TableSchema &schema_;
    size_t rows_;
    std::vector<Contents> columns_; // as in the schema
    std::string fault_;
};

struct FileHeader {
    std::string engine, machine; // plain words: letters, digits, '.', '_', '-'
    uint64_t period_cycles, roi_cycles;
    std::set<std::string> unknown{}; // columns that this engine cannot know, "table.column"
};

// An empty string, or a sentence that says what went wrong; then there is no file at `path`.
std::string write_tables(const std::string &path, const FileHeader &header, std::vector<Table> tables);

} // namespace mosbench

#endif
