// SPDX-License-Identifier: BSD-3-Clause
#include "native/nic/rss.h"

#include "native/nic/bytes.h"

namespace mosbench::nic {

namespace {

constexpr uint32_t kRedirections = 128;

RssKey key_of(const State &state)
{
    RssKey key;
    for (uint32_t i = 0; i < key.size(); i++) {
        key[i] = static_cast<uint8_t>(state.at(reg::RSSRK + i / 4 * 4) >> i % 4 * 8);
    }
    return key;
}

} // namespace

// For each bit of the input that is set, the 32 bits of the key from that bit on.
uint32_t toeplitz(const RssKey &key, std::span<const uint8_t> input)
{
    uint32_t hash = 0, window = load32(&key[0]);
    for (size_t i = 0; i < input.size(); i++) {
        const uint8_t next = key[i + 4 < key.size() ? i + 4 : i + 4 - key.size()];
        for (uint32_t bit = 0; bit < 8; bit++) {
            if (input[i] >> (7 - bit) & 1) {
                hash ^= window;
            }
            window = window << 1 | (next >> (7 - bit) & 1);
        }
    }
    return hash;
}

RssResult rss(const State &state, const Headers &headers)
{
    const uint32_t mrqc = state.at(reg::MRQC);
    const bool tcp = headers.ports && headers.protocol == kTcp && mrqc & bits::MRQC_TCP4;
    const bool udp = headers.ports && headers.protocol == kUdp && mrqc & bits::MRQC_UDP4;
    if ((mrqc & 15) != bits::MRQC_RSS || !headers.ip || !(tcp || udp || mrqc & bits::MRQC_IP4)) {
        return {};
    }
    std::array<uint8_t, 12> input;
    store32(&input[0], headers.source);
    store32(&input[4], headers.destination);
    store16(&input[8], headers.source_port);
    store16(&input[10], headers.destination_port);
    RssResult result;
    result.type = tcp ? 1 : udp ? 7 : 2;
    result.hash = toeplitz(key_of(state), std::span(input).first(tcp || udp ? 12 : 8));
    const uint32_t entry = result.hash % kRedirections;
    result.queue = state.at(reg::RETA + entry / 4 * 4) >> entry % 4 * 8 & 15;
    return result;
}

} // namespace mosbench::nic
