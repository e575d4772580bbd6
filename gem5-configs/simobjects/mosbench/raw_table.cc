// SPDX-License-Identifier: BSD-3-Clause
#include "mosbench/raw_table.hh"

namespace gem5::X86ISA::ACPI {

namespace {

constexpr size_t kPointerBytes = 4;

void put_pointer(std::vector<uint8_t> &bytes, size_t offset, Addr address)
{
    fatal_if(offset + kPointerBytes > bytes.size(), "A raw ACPI table points to another from beyond its end.");
    for (size_t i = 0; i < kPointerBytes; i++) {
        bytes[offset + i] = static_cast<uint8_t>(address >> 8 * i);
    }
}

} // namespace

RawTable::RawTable(const Params &p) : SysDescTable(p, nullptr, p.revision), signature_text_(p.signature)
{
    fatal_if(signature_text_.size() != 4, "The signature of an ACPI table has four characters, not '%s'.", signature_text_);
    fatal_if(p.pointers.size() != p.tables.size(), "A raw ACPI table needs one pointer for each table it points to.");
    signature = signature_text_.c_str();
}

Addr RawTable::writeBuf(PortProxy &memory, Allocator &allocator, std::vector<uint8_t> &bytes) const
{
    const auto &p = dynamic_cast<const Params &>(params());
    bytes.resize(sizeof(Mem));
    bytes.insert(bytes.end(), p.body.begin(), p.body.end());
    for (size_t i = 0; i < p.tables.size(); i++) {
        put_pointer(bytes, sizeof(Mem) + p.pointers[i], p.tables[i]->write(memory, allocator));
    }
    return SysDescTable::writeBuf(memory, allocator, bytes);
}

} // namespace gem5::X86ISA::ACPI
