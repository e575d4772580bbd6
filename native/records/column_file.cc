// SPDX-License-Identifier: BSD-3-Clause
#include "native/records/column_file.h"

#include <zlib.h>

#include <cerrno>
#include <cstring>

#include "native/records/schema.h"

namespace mosbench {

Sink::Sink(const std::string &path) : file_(std::fopen(path.c_str(), "wb")), buffer_(room_)
{
    if (!file_) {
        error_ = errno;
    }
}

Sink::~Sink()
{
    if (file_) {
        std::fclose(file_);
    }
}

void Sink::flush()
{
    crc_ = static_cast<uint32_t>(crc32(crc_, buffer_.data(), static_cast<uInt>(used_)));
    if (error_ == 0 && std::fwrite(buffer_.data(), 1, used_, file_) != used_) {
        error_ = errno;
    }
    used_ = 0;
}

void Sink::put_text(const std::string &text)
{
    for (char byte : text) {
        put(static_cast<uint8_t>(byte));
    }
}

std::string Sink::close()
{
    flush();
    put(crc_);
    flush();
    if (file_ && std::fclose(file_) != 0 && error_ == 0) {
        error_ = errno;
    }
    file_ = nullptr;
    return error_ == 0 ? "" : std::strerror(error_);
}

Table::Contents *Table::find(const std::string &table, const std::string &column)
{
    for (size_t i = 0; table == schema_.name && i < schema_.size; i++) {
        if (column == schema_.columns[i].name) {
            return &columns_[i];
        }
    }
    fault_ = "the table " + std::string(schema_.name) + " has no column " + table + "." + column;
    return nullptr;
}

void Table::set_unknown(const std::string &table, const std::string &column)
{
    if (Contents *contents = find(table, column)) {
        contents->unknown = true;
        contents->write = nullptr;
    }
}

std::string Table::fault() const
{
    for (size_t i = 0; i < schema_.size && fault_.empty(); i++) {
        const std::string column = std::string(schema_.name) + "." + schema_.columns[i].name;
        if (!columns_[i].write && !columns_[i].unknown) {
            return "nothing fills the column " + column;
        }
        if (columns_[i].unknown && !schema_.columns[i].optional) {
            return "every engine has to know the column " + column;
        }
    }
    return fault_;
}

std::string Table::json() const
{
    std::string known, unknown;
    for (size_t i = 0; i < schema_.size; i++) {
        const ColumnSchema &column = schema_.columns[i];
        if (columns_[i].unknown) {
            unknown += (unknown.empty() ? "\"" : ",\"") + std::string(column.name) + "\"";
        } else {
            known += (known.empty() ? "[\"" : ",[\"") + std::string(column.name) + "\",\"" + column.type + "\"]";
        }
    }
    return "{\"name\":\"" + std::string(schema_.name) + "\",\"rows\":" + std::to_string(rows_) + ",\"columns\":[" + known +
           "],\"unknown\":[" + unknown + "]}";
}

void Table::write(Sink &sink) const
{
    for (const Contents &contents : columns_) {
        if (contents.write) {
            contents.write(sink);
        }
    }
}

namespace {

// Enters what the engine cannot know. A sentence, if it is no column of the tables.
std::string enter_unknown(const std::set<std::string> &unknown, std::vector<Table> &tables)
{
    for (const std::string &name : unknown) {
        const size_t dot = name.find('.');
        bool found = false;
        for (Table &table : tables) {
            if (name.compare(0, dot, table.name()) == 0 && dot != name.npos) {
                table.set_unknown(table.name(), name.substr(dot + 1));
                found = true;
            }
        }
        if (!found) {
            return "there is no column " + name;
        }
    }
    return "";
}

std::string fault_of(const FileHeader &header, std::vector<Table> &tables)
{
    std::string fault = enter_unknown(header.unknown, tables);
    for (size_t i = 0; i < tables.size() && fault.empty(); i++) {
        fault = tables[i].fault();
    }
    return fault;
}

} // namespace

std::string write_tables(const std::string &path, const FileHeader &header, std::vector<Table> tables)
{
    if (const std::string fault = fault_of(header, tables); !fault.empty()) {
        return "cannot write " + path + ": " + fault;
    }
    const std::string unfinished = path + ".unfinished";
    std::string text = "{\"engine\":\"" + header.engine + "\",\"machine\":\"" + header.machine +
                       "\",\"period_cycles\":" + std::to_string(header.period_cycles) +
                       ",\"roi_cycles\":" + std::to_string(header.roi_cycles) + ",\"tables\":[";
    for (const Table &table : tables) {
        text += &table == tables.data() ? "" : ",";
        text += table.json();
    }
    std::string error;
    {
        Sink sink(unfinished);
        sink.put_text(schema::kMagic + text + "]}\n");
        for (const Table &table : tables) {
            table.write(sink);
        }
        error = sink.close();
    }
    if (error.empty() && std::rename(unfinished.c_str(), path.c_str()) != 0) {
        error = std::strerror(errno);
    }
    if (!error.empty()) {
        std::remove(unfinished.c_str());
        return "cannot write " + path + ": " + error;
    }
    return "";
}

} // namespace mosbench
