// SPDX-License-Identifier: BSD-3-Clause
#include "native/records/column_file.h"

#include <zlib.h>

#include <cerrno>
#include <cstring>

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

void Table::drop(const std::set<std::string> &unknown)
{
    std::erase_if(columns_, [&](const Column &column) { return unknown.count(name_ + "." + column.name) != 0; });
}

std::string Table::json() const
{
    std::string text = "{\"name\":\"" + name_ + "\",\"rows\":" + std::to_string(rows_) + ",\"columns\":[";
    for (const Column &column : columns_) {
        text += &column == columns_.data() ? "[\"" : ",[\"";
        text += column.name + "\",\"" + column.type + "\"]";
    }
    return text + "]}";
}

void Table::write(Sink &sink) const
{
    for (const Column &column : columns_) {
        column.write(sink);
    }
}

std::string write_tables(const std::string &path, const FileHeader &header, std::vector<Table> tables)
{
    for (Table &table : tables) {
        table.drop(header.unknown);
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
        sink.put_text("MOSBENCHREC1\n" + text + "]}\n");
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
