// SPDX-License-Identifier: BSD-3-Clause
//
// A decoder that finds what some processor has decoded before. gem5 v24.0's decoder has a cache of its own and never fills it: it
// goes through the bytes of each instruction each time that it is executed. Both decode the same, but for PAUSE and
// for what gem5 executes wrong.
#ifndef MOSBENCH_CACHING_DECODER_HH
#define MOSBENCH_CACHING_DECODER_HH

#include <array>
#include <cstdint>
#include <vector>

#include "mosbench/gem5_api.hh"

namespace gem5 {

// An instruction, and the bytes that it was decoded from, in the pieces that are fetched.
struct DecodedInstruction {
    static constexpr unsigned most_pieces = 3; // 15 bytes, the first one anywhere in a piece

    bool matches(unsigned piece, uint64_t fetched) const { return (fetched & masks[piece]) == bytes[piece]; }

    StaticInstPtr instruction;
    Addr address = 0;
    RegVal mode = 0; // of the processor: what bytes mean depends on it
    std::array<uint64_t, most_pieces> bytes{}, masks{};
    uint8_t pieces = 0;
    uint8_t end = 0;          // in the last one
    bool past_caches = false; // MOVNTI and its like
};

class CachingDecoder : public X86ISA::Decoder {
  public:
    PARAMS(CachingDecoder);
    explicit CachingDecoder(const Params &p) : X86ISA::Decoder(p) {}

    void moreBytes(const PCStateBase &pc, Addr fetch_address) override;
    StaticInstPtr decode(PCStateBase &next_pc) override;
    void reset() override;
    void takeOverFrom(InstDecoder *old) override;

    // Whether what was last decoded at an address, by any processor, stores past the caches.
    static bool storesPastCaches(Addr address)
    {
        const DecodedInstruction &known = place(address);
        return known.past_caches && known.address == address;
    }

  private:
    // Where the instruction at an address is; what is there may be another one.
    static DecodedInstruction &place(Addr address);
    // The processor's mode, as a key.
    RegVal mode();
    // The piece that was fetched is one of those that `found_` was decoded from: go on in it.
    void take(Addr fetch_address);
    // What was fetched is another instruction than `found_`: decode it, from its first piece on.
    void decodeAll(const PCStateBase &pc, Addr fetch_address);
    void remember(const StaticInstPtr &instruction);

    enum class Phase { decoding, finding, found };

    // Of all processors: most of what one of many executes has been decoded by another one. An instruction takes the place of any
    // other that is there.
    static std::vector<DecodedInstruction> table_;

    Phase phase_ = Phase::decoding;
    DecodedInstruction found_; // a copy: another processor may put something else into its place meanwhile
    unsigned piece_ = 0;       // of it, that is fetched next
    std::array<uint64_t, DecodedInstruction::most_pieces> fetched_{};
    DecodePages *mode_pages_ = nullptr; // gem5's own cache of the mode `mode_`
    RegVal mode_ = 0;
};

} // namespace gem5

#endif
