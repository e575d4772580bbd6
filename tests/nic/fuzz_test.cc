// SPDX-License-Identifier: BSD-3-Clause
//
// Random register writes, descriptors, frames, answers and resets. What must hold: no access outside of guest memory that is not
// counted as an error, no crash under the sanitizers, and the card still works after a reset.
// MOSBENCH_FUZZ_OPERATIONS: how many (default 20,000); MOSBENCH_FUZZ_SEED: the first seed.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <random>

#include "tests/nic/rig.h"

namespace mosbench::nic::test {
namespace {

uint64_t from_environment(const char *name, uint64_t otherwise)
{
    const char *const text = std::getenv(name);
    return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

class Fuzz {
  public:
    explicit Fuzz(uint64_t seed) : random_(seed), rig_(settings(), 8 << 20) { start(); }

    void step()
    {
        switch (below(16)) {
        case 0:
            rig_.write(below(2) ? interesting() : below(kRegisterBytes) & ~3u, word());
            break;
        case 1: // what a driver does all the time, or what few queues survive
            rig_.run(below(2000));
            if (below(8) == 0) {
                rig_.write(interesting(), word());
            }
            break;
        case 2:
            rig_.read(below(4) ? interesting() : below(kRegisterBytes));
            break;
        case 3:
            rig_.card.write_msix(below(0x4000), word());
            break;
        case 4:
            rig_.card.read_msix(below(0x4000));
            break;
        case 5:
            scribble();
            break;
        case 6:
            rig_.write_queue(below(2) ? reg::TDT : reg::RDT, below(kQueuesUsed), below(16) ? below(64) : word());
            break;
        case 7:
        case 8:
            rig_.card.frame_in(frame());
            break;
        case 9:
            rig_.host.at_once = below(2);
            break;
        case 10:
        case 11:
            if (!rig_.host.under_way.empty()) {
                rig_.host.answer(below(static_cast<uint32_t>(rig_.host.under_way.size())));
            }
            break;
        case 12:
            rig_.card.set_msix(below(4), !below(4));
            if (below(8) == 0) {
                rig_.card.set_msi(below(2), random_(), word());
            }
            break;
        case 13:
            if (below(16) == 0) {
                again();
            } else if (below(16) == 0) {
                EXPECT_TRUE(rig_.card.load(rig_.card.save()));
            }
            break;
        default:
            rig_.run(below(5000));
        }
        if (rig_.host.under_way.size() > 64) {
            rig_.host.answer();
        }
        rig_.host.frames.clear();
        rig_.host.messages.clear();
    }

    // A driver that resets the card and sets it up finds it in order.
    void end()
    {
        again();
        rig_.card.frame_in(tcp_frame(kFlow, some_bytes(300)));
        rig_.send(0, {.bytes = udp_frame(kFlow, some_bytes(300))});
        rig_.run(10000000);
        size_t taken = 0;
        for (uint32_t queue = 0; queue < kQueuesUsed; queue++) {
            taken += rig_.take(queue).size();
        }
        EXPECT_EQ(taken, 1u);
        ASSERT_EQ(rig_.host.frames.size(), 1u);
        EXPECT_EQ(rig_.host.frames[0].bytes, udp_frame(kFlow, some_bytes(300)));
        EXPECT_EQ(rig_.card.totals().dma_errors, rig_.host.refused);
    }
    uint64_t received() const { return rig_.card.totals().received_frames; }
    uint64_t sent() const { return rig_.card.totals().sent_frames; }
    uint64_t refused() const { return rig_.host.refused; }

  private:
    static constexpr uint32_t kQueuesUsed = 4;

    Settings settings()
    {
        Settings settings;
        settings.steering = static_cast<Steering>(below(3));
        settings.receive = {.ns = static_cast<double>(below(300)), .ns_per_queue = static_cast<double>(below(20))};
        return settings;
    }
    void start()
    {
        rig_.up({.queues = kQueuesUsed, .descriptors = 64, .header_split = below(2) != 0, .drop = below(2) != 0});
        rig_.interrupts(kQueuesUsed + 1, below(3) * 0x50);
        rig_.write(reg::FDIRCTRL, 4u << 28 | (below(2) ? bits::FDIRCTRL_PERFECT : 0) | 1);
        rig_.write(reg::MRQC, bits::MRQC_RSS | 0x00430000);
        for (const Rig::Ring &ring : rig_.transmit) { // a packet that never ends would hold up all others
            for (uint32_t i = 0; i < ring.size; i++) {
                rig_.host.put<uint64_t>(ring.base + i * 16, kMemoryBase + below(1 << 20));
                rig_.host.put<uint32_t>(ring.base + i * 16 + 8, 0x2B300000u | (60 + below(1000)));
            }
        }
    }
    void again()
    {
        rig_.write(reg::CTRL, bits::CTRL_RST);
        while (!rig_.host.under_way.empty()) {
            rig_.host.answer();
        }
        rig_.host.at_once = true;
        rig_.host.frames.clear();
        rig_.receive.clear();
        rig_.transmit.clear();
        rig_.forget_memory();
        std::fill(rig_.host.memory.begin(), rig_.host.memory.end(), 0);
        start();
    }

    uint32_t below(uint32_t bound) { return static_cast<uint32_t>(random_() % bound); }
    uint32_t word()
    {
        switch (below(4)) {
        case 0:
            return below(256);
        case 1:
            return 1u << below(32);
        default:
            return static_cast<uint32_t>(random_());
        }
    }
    // A register that does something.
    uint32_t interesting()
    {
        constexpr uint32_t kOnes[] = {reg::CTRL,     reg::EICR,    reg::EICS,    reg::EIMS,    reg::EIMC,     reg::GPIE,
                                      reg::EICS_EX,  reg::EIMS_EX, reg::EIMC_EX, reg::EIAM_EX, reg::EIAC,     reg::FDIRCTRL,
                                      reg::FDIRHASH, reg::FDIRCMD, reg::FDIRM,   reg::RXCTRL,  reg::DMATXCTL, reg::RXPBSIZE,
                                      reg::FCTRL,    reg::MRQC,    reg::EERD};
        constexpr uint32_t kOfQueues[] = {reg::RDBAL, reg::RDBAH, reg::RDLEN, reg::RDH, reg::RDT, reg::RXDCTL, reg::SRRCTL,
                                          reg::TDBAL, reg::TDBAH, reg::TDLEN, reg::TDH, reg::TDT, reg::TXDCTL};
        if (below(3) == 0) {
            // Rarely what ends all traffic until the next reset.
            return kOnes[below(8) == 0 ? 0 : 1 + below(std::size(kOnes) - 1)];
        }
        if (below(4) == 0) {
            return below(2) ? reg::EITR + below(24) * 4 : reg::IVAR + below(32) * 4;
        }
        return kOfQueues[below(std::size(kOfQueues))] + below(below(8) ? kQueuesUsed : kQueues) * 0x40;
    }
    // Into a descriptor ring: addresses that are memory or not, commands that are right or not.
    void scribble()
    {
        auto &rings = below(2) ? rig_.transmit : rig_.receive;
        const uint64_t at = rings[below(kQueuesUsed)].base + below(64) * 16;
        const uint64_t place = below(16) ? kMemoryBase + below(8 << 20) : random_();
        rig_.host.put(at, place);
        if (&rings == &rig_.receive) {
            rig_.host.put(at + 8, below(8) ? kMemoryBase + below(8 << 20) : random_());
            return;
        }
        const uint32_t type = below(4) == 0 ? 2u << 20 : 3u << 20;
        uint32_t command = type | (below(32) ? 1u << 29 : 0) | (below(8) ? 1u << 24 : 0) | (below(2) ? 1u << 27 : 0);
        command |= below(16) ? below(3000) : word();
        rig_.host.put(at + 8, command | (below(4) ? 0 : below(4) << 30));
        rig_.host.put(at + 12, below(2) ? word() : 0x300u | (below(2) << 4));
        if (type == 2u << 20 && below(2)) {
            rig_.host.put<uint32_t>(at, 14u << 9 | 20);
            rig_.host.put<uint32_t>(at + 8, (command & 0xFFFF0000) | below(4) << 11 | 1u << 10);
            rig_.host.put<uint32_t>(at + 12, (1 + below(2000)) << 16 | (8 + below(30)) << 8);
        }
    }
    Frame frame()
    {
        const Frame payload = some_bytes(below(2000), below(1 << 30));
        const Flow flow = {address(10, 0, 0, below(30)), address(10, 0, 0, 1), static_cast<uint16_t>(below(65536)),
                           static_cast<uint16_t>(11211 + below(8))};
        Frame bytes = below(3) == 0 ? payload : below(2) ? tcp_frame(flow, payload) : udp_frame(flow, payload);
        for (uint32_t wrong = below(3) == 0 ? below(4) : 0; wrong > 0 && !bytes.empty(); wrong--) {
            bytes[below(static_cast<uint32_t>(std::min<size_t>(bytes.size(), 60)))] = static_cast<uint8_t>(random_());
        }
        if (below(8) == 0) {
            bytes.resize(below(12000));
        }
        return bytes;
    }

    std::mt19937_64 random_;
    Rig rig_;
};

TEST(FuzzTest, TheCardStaysWhole)
{
    const uint64_t operations = from_environment("MOSBENCH_FUZZ_OPERATIONS", 20000);
    const uint64_t first = from_environment("MOSBENCH_FUZZ_SEED", 1);
    constexpr uint64_t kOfOneCard = 5000;
    uint64_t received = 0, sent = 0, refused = 0;
    for (uint64_t seed = first; seed < first + (operations + kOfOneCard - 1) / kOfOneCard; seed++) {
        SCOPED_TRACE("MOSBENCH_FUZZ_SEED=" + std::to_string(seed));
        Fuzz fuzz(seed);
        for (uint64_t i = 0; i < kOfOneCard; i++) {
            fuzz.step();
        }
        fuzz.end();
        received += fuzz.received();
        sent += fuzz.sent();
        refused += fuzz.refused();
        if (testing::Test::HasFailure()) {
            break;
        }
    }
    std::printf("fuzz: %llu operations, %llu frames received, %llu sent, %llu accesses outside of memory\n",
                static_cast<unsigned long long>((operations + kOfOneCard - 1) / kOfOneCard * kOfOneCard),
                static_cast<unsigned long long>(received), static_cast<unsigned long long>(sent),
                static_cast<unsigned long long>(refused));
    // It is of no use if nothing gets through.
    EXPECT_GT(received, operations / 200);
    EXPECT_GT(sent, operations / 200);
    EXPECT_GT(refused, operations / 2000);
}

} // namespace
} // namespace mosbench::nic::test
