// SPDX-License-Identifier: BSD-3-Clause
//
// DWARF 5, section 6.4: the format is its, the names are in full.
#include "native/stack/frame_table.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <stdexcept>

namespace mosbench {

namespace {

// Numbers of the x86-64 ABI.
constexpr uint64_t kFramePointer = 6, kStackPointer = 7, kReturnAddress = 16;
constexpr uint32_t kCommonPart = UINT32_MAX; // in place of the offset of one

class Reader {
  public:
    Reader(const std::vector<unsigned char> &bytes, size_t at, size_t end)
        : bytes_(bytes), at_(at), end_(std::min(end, bytes.size()))
    {
    }

    bool more() const { return at_ < end_; }
    size_t at() const { return at_; }
    void skip(size_t bytes)
    {
        need(bytes);
        at_ += bytes;
    }
    template <typename T> T take()
    {
        T value;
        need(sizeof value);
        std::memcpy(&value, bytes_.data() + at_, sizeof value);
        at_ += sizeof value;
        return value;
    }
    uint64_t take_unsigned()
    {
        uint64_t value = 0;
        for (unsigned shift = 0;; shift += 7) {
            const auto byte = take<uint8_t>();
            value |= shift < 64 ? uint64_t{byte & 0x7fu} << shift : 0;
            if (!(byte & 0x80)) {
                return value;
            }
        }
    }
    int64_t take_signed()
    {
        uint64_t value = 0;
        for (unsigned shift = 0;;) {
            const auto byte = take<uint8_t>();
            value |= shift < 64 ? uint64_t{byte & 0x7fu} << shift : 0;
            shift += 7;
            if (!(byte & 0x80)) {
                const bool negative = (byte & 0x40) && shift < 64;
                return static_cast<int64_t>(negative ? value | ~uint64_t{0} << shift : value);
            }
        }
    }
    std::string take_text()
    {
        std::string text;
        while (const char letter = take<char>()) {
            text += letter;
        }
        return text;
    }

  private:
    void need(size_t bytes) const
    {
        if (end_ - at_ < bytes) {
            throw std::runtime_error("its call frame information is truncated");
        }
    }

    const std::vector<unsigned char> &bytes_;
    size_t at_, end_;
};

struct CommonPart {
    uint64_t code_factor = 1;
    int64_t data_factor = 1;
    size_t program = 0, after = 0;
    bool understood = false;
};

CommonPart read_common(const std::vector<unsigned char> &section, size_t offset)
{
    Reader reader(section, offset, section.size());
    const size_t length = reader.take<uint32_t>();
    CommonPart common{.after = reader.at() + length};
    if (reader.take<uint32_t>() != kCommonPart) {
        throw std::runtime_error("its call frame information names a common part that is none");
    }
    const auto version = reader.take<uint8_t>();
    const std::string augmentation = reader.take_text();
    if (version == 4) {
        reader.skip(2); // sizes of an address and of a segment
    }
    common.code_factor = reader.take_unsigned();
    common.data_factor = reader.take_signed();
    version == 1 ? reader.skip(1) : static_cast<void>(reader.take_unsigned()); // register of the return address
    // "S": what follows is the frame of an interrupt. Others have data of their own, which compilers do not write here.
    common.understood = augmentation.empty() || augmentation == "S";
    common.program = reader.at();
    return common;
}

// Runs a function's program up to an instruction.
class Machine {
  public:
    Machine(const std::vector<unsigned char> &section, const CommonPart &common) : section_(section), common_(common) {}

    FrameRule run(uint64_t start, size_t program, size_t after, uint64_t pc)
    {
        execute(Reader(section_, common_.program, common_.after), 0, UINT64_MAX);
        initial_ = rule_;
        execute(Reader(section_, program, after), start, pc);
        return rule_;
    }

  private:
    static FrameRule::Saved *saved(FrameRule &rule, uint64_t register_number)
    {
        switch (register_number) {
        case kFramePointer:
            return &rule.frame_pointer;
        case kStackPointer:
            return &rule.stack_pointer;
        case kReturnAddress:
            return &rule.return_address;
        default:
            return nullptr;
        }
    }
    void save(uint64_t register_number, int64_t factored)
    {
        if (FrameRule::Saved *place = saved(rule_, register_number)) {
            *place = {true, static_cast<int32_t>(factored * common_.data_factor)};
        }
    }
    void forget(uint64_t register_number)
    {
        if (FrameRule::Saved *place = saved(rule_, register_number)) {
            *place = {};
        }
    }
    void restore(uint64_t register_number)
    {
        if (FrameRule::Saved *place = saved(rule_, register_number)) {
            *place = *saved(initial_, register_number);
        }
    }
    void set_base(uint64_t register_number)
    {
        rule_.base = register_number == kStackPointer   ? FrameRule::Base::stack_pointer
                     : register_number == kFramePointer ? FrameRule::Base::frame_pointer
                                                        : FrameRule::Base::unknown;
    }

    // Up to the first row past `pc`.
    void execute(Reader reader, uint64_t place, uint64_t pc)
    {
        std::vector<FrameRule> remembered;
        const auto advance = [&](uint64_t factored) {
            place += factored * common_.code_factor;
            return place > pc;
        };
        while (reader.more()) {
            const auto byte = reader.take<uint8_t>();
            const uint8_t operand = byte & 0x3f;
            switch (byte >> 6) {
            case 1: // DW_CFA_advance_loc
                if (advance(operand)) {
                    return;
                }
                continue;
            case 2: // DW_CFA_offset
                save(operand, static_cast<int64_t>(reader.take_unsigned()));
                continue;
            case 3: // DW_CFA_restore
                restore(operand);
                continue;
            }
            switch (byte) {
            case 0x00: // DW_CFA_nop
                break;
            case 0x01: // DW_CFA_set_loc
                place = reader.take<uint64_t>();
                if (place > pc) {
                    return;
                }
                break;
            case 0x02: // DW_CFA_advance_loc1
                if (advance(reader.take<uint8_t>())) {
                    return;
                }
                break;
            case 0x03: // DW_CFA_advance_loc2
                if (advance(reader.take<uint16_t>())) {
                    return;
                }
                break;
            case 0x04: // DW_CFA_advance_loc4
                if (advance(reader.take<uint32_t>())) {
                    return;
                }
                break;
            case 0x05: { // DW_CFA_offset_extended
                const uint64_t number = reader.take_unsigned();
                save(number, static_cast<int64_t>(reader.take_unsigned()));
                break;
            }
            case 0x06: // DW_CFA_restore_extended
                restore(reader.take_unsigned());
                break;
            case 0x07: // DW_CFA_undefined
            case 0x08: // DW_CFA_same_value
                forget(reader.take_unsigned());
                break;
            case 0x09: // DW_CFA_register
                forget(reader.take_unsigned());
                reader.take_unsigned();
                break;
            case 0x0a: // DW_CFA_remember_state
                remembered.push_back(rule_);
                break;
            case 0x0b: // DW_CFA_restore_state
                if (!remembered.empty()) {
                    rule_ = remembered.back();
                    remembered.pop_back();
                }
                break;
            case 0x0c: // DW_CFA_def_cfa
                set_base(reader.take_unsigned());
                rule_.offset = static_cast<int32_t>(reader.take_unsigned());
                break;
            case 0x0d: // DW_CFA_def_cfa_register
                set_base(reader.take_unsigned());
                break;
            case 0x0e: // DW_CFA_def_cfa_offset
                rule_.offset = static_cast<int32_t>(reader.take_unsigned());
                break;
            case 0x0f: // DW_CFA_def_cfa_expression
                rule_.base = FrameRule::Base::unknown;
                reader.skip(reader.take_unsigned());
                break;
            case 0x10: // DW_CFA_expression
            case 0x16: // DW_CFA_val_expression
                forget(reader.take_unsigned());
                reader.skip(reader.take_unsigned());
                break;
            case 0x11: { // DW_CFA_offset_extended_sf
                const uint64_t number = reader.take_unsigned();
                save(number, reader.take_signed());
                break;
            }
            case 0x12: // DW_CFA_def_cfa_sf
                set_base(reader.take_unsigned());
                rule_.offset = static_cast<int32_t>(reader.take_signed() * common_.data_factor);
                break;
            case 0x13: // DW_CFA_def_cfa_offset_sf
                rule_.offset = static_cast<int32_t>(reader.take_signed() * common_.data_factor);
                break;
            case 0x14: // DW_CFA_val_offset
            case 0x15: // DW_CFA_val_offset_sf
                forget(reader.take_unsigned());
                reader.take_unsigned();
                break;
            case 0x2e: // DW_CFA_GNU_args_size
                reader.take_unsigned();
                break;
            default:
                rule_ = {};
                return;
            }
        }
    }

    const std::vector<unsigned char> &section_;
    const CommonPart common_;
    FrameRule rule_, initial_;
};

std::vector<unsigned char> read_section(const std::string &path, const std::string &wanted)
{
    std::ifstream file(path, std::ios::binary);
    const auto read = [&](uint64_t offset, size_t bytes) {
        std::vector<unsigned char> content(bytes);
        file.seekg(static_cast<std::streamoff>(offset));
        file.read(reinterpret_cast<char *>(content.data()), static_cast<std::streamsize>(bytes));
        if (!file) {
            throw std::runtime_error("it cannot be read, or is no ELF file");
        }
        return content;
    };
    const auto first = read(0, sizeof(Elf64_Ehdr));
    Elf64_Ehdr header;
    std::memcpy(&header, first.data(), sizeof header);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shstrndx >= header.e_shnum) {
        throw std::runtime_error("it is no ELF file of 64 bits with sections");
    }
    std::vector<Elf64_Shdr> sections(header.e_shnum);
    const auto table = read(header.e_shoff, sections.size() * sizeof(Elf64_Shdr));
    std::memcpy(sections.data(), table.data(), table.size());
    const auto names = read(sections[header.e_shstrndx].sh_offset, sections[header.e_shstrndx].sh_size);
    for (const Elf64_Shdr &section : sections) {
        if (section.sh_name + wanted.size() < names.size() &&
            std::memcmp(names.data() + section.sh_name, wanted.c_str(), wanted.size() + 1) == 0 &&
            !(section.sh_flags & SHF_COMPRESSED)) {
            return read(section.sh_offset, section.sh_size);
        }
    }
    throw std::runtime_error("it has no section " + wanted);
}

} // namespace

FrameTable::FrameTable(const std::string &elf_file)
try : section_(read_section(elf_file, ".debug_frame")) {
    Reader reader(section_, 0, section_.size());
    while (reader.more()) {
        const size_t length = reader.take<uint32_t>(), after = reader.at() + length;
        const auto common = reader.take<uint32_t>();
        if (common != kCommonPart) {
            const auto start = reader.take<uint64_t>();
            const auto bytes = reader.take<uint64_t>();
            functions_.push_back({start, start + bytes, common, reader.at(), after});
        }
        reader.skip(after - reader.at());
    }
    std::sort(functions_.begin(), functions_.end(), [](const Function &a, const Function &b) { return a.start < b.start; });
} catch (const std::runtime_error &error) {
    throw std::runtime_error("no call frame information in " + elf_file + ": " + error.what());
}

const FrameRule &FrameTable::rule(uint64_t pc)
{
    const auto [place, is_new] = known_.try_emplace(pc);
    if (is_new) {
        place->second = find(pc);
    }
    return place->second;
}

FrameRule FrameTable::find(uint64_t pc) const
{
    auto next = std::upper_bound(functions_.begin(), functions_.end(), pc,
                                 [](uint64_t wanted, const Function &function) { return wanted < function.start; });
    if (next == functions_.begin() || pc >= (--next)->end) {
        return {};
    }
    const CommonPart common = read_common(section_, next->common);
    return common.understood ? Machine(section_, common).run(next->start, next->program, next->after, pc) : FrameRule{};
}

} // namespace mosbench
