// SPDX-License-Identifier: BSD-3-Clause
#include "mosbench/caching_decoder.hh"

#include <algorithm>

#include "mosbench/mended_code.hh"
#include "mosbench/pause_instruction.hh"

namespace gem5 {

namespace {

constexpr unsigned places_log2 = 18; // 20 MiB: more instructions than kernel and programs execute often
constexpr size_t places = size_t{1} << places_log2;

constexpr uint8_t movnti = 0xc3, movntps = 0x2b, movntdq = 0xe7; // and their forms with other registers
constexpr uint8_t registers = 3;                                 // ModRM

bool pastCaches(const X86ISA::ExtMachInst &code)
{
    const uint8_t opcode = code.opcode.op;
    return code.opcode.type == X86ISA::TwoByteOpcode && (opcode == movnti || opcode == movntps || opcode == movntdq) &&
           code.modRM.mod != registers;
}

} // namespace

std::vector<DecodedInstruction> CachingDecoder::table_(places);

RegVal CachingDecoder::mode()
{
    if (decodePages != mode_pages_) { // gem5 has one for each mode, and tells a new mode by it
        const auto is_it = [this](const AddrCacheMap::value_type &one) { return one.second == decodePages; };
        const auto found = std::find_if(addrCacheMap.begin(), addrCacheMap.end(), is_it);
        panic_if(found == addrCacheMap.end(), "%s does not know the mode that it decodes in.", name());
        mode_pages_ = decodePages;
        mode_ = found->first;
    }
    return mode_;
}

DecodedInstruction &CachingDecoder::place(Addr address)
{
    return table_[(address ^ address >> places_log2) % places];
}

void CachingDecoder::moreBytes(const PCStateBase &pc, Addr fetch_address)
{
    if (phase_ == Phase::finding) {
        if (found_.matches(piece_, fetchChunk)) {
            take(fetch_address);
        } else {
            decodeAll(pc, fetch_address);
        }
        return;
    }
    if (state == ResetState) {
        const Addr address = std::max(fetch_address, pc.instAddr());
        const DecodedInstruction &known = place(address);
        if (known.address == address && known.mode == mode() && known.pieces > 0 && known.matches(0, fetchChunk)) {
            found_ = known;
            piece_ = 0;
            origPC = address;
            take(fetch_address);
            return;
        }
    }
    phase_ = Phase::decoding;
    X86ISA::Decoder::moreBytes(pc, fetch_address);
}

void CachingDecoder::take(Addr fetch_address)
{
    basePC = fetch_address;
    fetched_[piece_++] = fetchChunk;
    if (piece_ < found_.pieces) {
        phase_ = Phase::finding;
        outOfBytes = true;
        return;
    }
    phase_ = Phase::found;
    offset = found_.end;
    instDone = true;
    outOfBytes = offset == sizeof(fetchChunk);
}

void CachingDecoder::decodeAll(const PCStateBase &pc, Addr fetch_address)
{
    const uint64_t last = fetchChunk;
    phase_ = Phase::decoding;
    for (unsigned i = 0; i < piece_; ++i) {
        fetchChunk = fetched_[i];
        X86ISA::Decoder::moreBytes(pc, fetch_address - (piece_ - i) * sizeof(fetchChunk));
    }
    fetchChunk = last;
    X86ISA::Decoder::moreBytes(pc, fetch_address);
}

StaticInstPtr CachingDecoder::decode(PCStateBase &next_pc)
{
    if (phase_ != Phase::found) {
        const bool whole = instDone;
        if (whole) {
            mend(emi);
        }
        StaticInstPtr instruction = X86ISA::Decoder::decode(next_pc);
        if (whole && PauseInstruction::is(emi)) {
            instruction = new PauseInstruction(emi);
            instruction->size(basePC + offset - origPC);
        }
        if (whole) {
            remember(instruction);
        }
        return instruction;
    }
    phase_ = Phase::decoding;
    instDone = false;
    updateNPC(next_pc.as<X86ISA::PCState>());
    const size_t size = basePC + offset - origPC;
    if (found_.instruction->size() != size) { // one object stands for all encodings with the same meaning
        found_.instruction->size(size);
    }
    return found_.instruction;
}

void CachingDecoder::remember(const StaticInstPtr &instruction)
{
    const size_t pieces = instBytes->chunks.size();
    if (pieces > DecodedInstruction::most_pieces || instBytes->masks.size() != pieces) {
        return;
    }
    DecodedInstruction &kept = place(origPC);
    kept.instruction = instruction;
    kept.address = origPC;
    kept.mode = mode();
    kept.pieces = static_cast<uint8_t>(pieces);
    kept.end = static_cast<uint8_t>(instBytes->lastOffset);
    kept.past_caches = pastCaches(emi);
    std::copy(instBytes->chunks.begin(), instBytes->chunks.end(), kept.bytes.begin());
    std::copy(instBytes->masks.begin(), instBytes->masks.end(), kept.masks.begin());
}

void CachingDecoder::reset()
{
    X86ISA::Decoder::reset();
    phase_ = Phase::decoding;
}

void CachingDecoder::takeOverFrom(InstDecoder *old)
{
    X86ISA::Decoder::takeOverFrom(old);
    phase_ = Phase::decoding;
}

} // namespace gem5
