// SPDX-License-Identifier: BSD-3-Clause
#include "tests/native/read_records.h"

#include <fstream>
#include <sstream>

namespace mosbench::test {

namespace {

uint64_t little_endian(const std::string &bytes, size_t at, size_t size)
{
    uint64_t value = 0;
    for (size_t i = size; i-- > 0;) {
        value = value << 8 | static_cast<uint8_t>(bytes.at(at + i));
    }
    return value;
}

uint32_t crc32_bitwise(const std::string &bytes, size_t size)
{
    uint32_t crc = ~0u;
    for (size_t i = 0; i < size; i++) {
        crc ^= static_cast<uint8_t>(bytes[i]);
        for (int bit = 0; bit < 8; bit++) {
            crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
        }
    }
    return ~crc;
}

// Walks over text from mark to mark.
class Scanner {
  public:
    explicit Scanner(const std::string &text) : text_(text) {}

    bool at(const std::string &mark) const { return text_.compare(at_, mark.size(), mark) == 0; }
    void skip(const std::string &mark)
    {
        if (!at(mark)) {
            throw std::runtime_error("header: expected " + mark + " at " + text_.substr(at_, 40));
        }
        at_ += mark.size();
    }
    // The text before the next `mark`; goes on behind the mark.
    std::string until(const std::string &mark)
    {
        const size_t end = text_.find(mark, at_);
        if (end == text_.npos) {
            throw std::runtime_error("header: no " + mark);
        }
        const std::string found = text_.substr(at_, end - at_);
        at_ = end + mark.size();
        return found;
    }

  private:
    const std::string &text_;
    size_t at_ = 0;
};

} // namespace

std::string read_bytes(const std::string &path)
{
    std::ifstream file(path, std::ios::binary);
    std::ostringstream bytes;
    bytes << file.rdbuf();
    return bytes.str();
}

RecordsFile read_records(const std::string &path)
{
    const std::string bytes = read_bytes(path), magic = "MOSBENCHREC5\n";
    if (!bytes.starts_with(magic) || bytes.size() < 4) {
        throw std::runtime_error("no records file");
    }
    if (crc32_bitwise(bytes, bytes.size() - 4) != little_endian(bytes, bytes.size() - 4, 4)) {
        throw std::runtime_error("CRC");
    }
    const size_t end = bytes.find('\n', magic.size());
    RecordsFile file;
    file.header = bytes.substr(magic.size(), end - magic.size());
    size_t at = end + 1;
    Scanner header(file.header);
    header.until("\"tables\":[");
    while (!header.at("]}")) {
        header.skip("{\"name\":\"");
        const std::string name = header.until("\",\"rows\":");
        Columns &table = file.tables[name];
        const size_t rows = std::stoul(header.until(",\"columns\":["));
        while (!header.at("],")) {
            header.skip("[\"");
            std::vector<uint64_t> &column = table[header.until("\",\"u")];
            const size_t size = std::stoul(header.until("\"]")) / 8;
            for (size_t row = 0; row < rows; row++, at += size) {
                column.push_back(little_endian(bytes, at, size));
            }
            if (header.at(",")) {
                header.skip(",");
            }
        }
        header.skip("],\"unknown\":[");
        file.unknown[name] = header.until("]}");
        if (header.at(",")) {
            header.skip(",");
        }
    }
    if (at != bytes.size() - 4) {
        throw std::runtime_error("length");
    }
    return file;
}

} // namespace mosbench::test
