// SPDX-License-Identifier: BSD-3-Clause
//
// The records file: a magic line, a line of JSON that names tables and columns, the columns one after the other as little-endian
// arrays, and the CRC-32 of all that.
#ifndef MOSBENCH_NATIVE_RECORDS_COLUMN_FILE_H
#define MOSBENCH_NATIVE_RECORDS_COLUMN_FILE_H

#include <cstdint>
#include <cstdio>
#include <functional>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

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

class Table {
  public:
    Table(std::string name, size_t rows) : name_(std::move(name)), rows_(rows) {}

    // A column whose value in row i is value(i).
    template <typename T, typename Value> void column(const char *name, Value value)
    {
        static_assert(std::is_unsigned_v<T>);
        columns_.push_back({name, "u" + std::to_string(8 * sizeof(T)), [value, rows = rows_](Sink &sink) {
                                for (size_t i = 0; i < rows; i++) {
                                    sink.put(static_cast<T>(value(i)));
                                }
                            }});
    }

    // Leaves out the columns named "table.column" in `unknown`: what an engine cannot know is absent, never 0.
    void drop(const std::set<std::string> &unknown);
    std::string json() const;
    void write(Sink &sink) const;

  private:
    struct Column {
        std::string name, type;
        std::function<void(Sink &)> write;
    };

    std::string name_;
    size_t rows_;
    std::vector<Column> columns_;
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
