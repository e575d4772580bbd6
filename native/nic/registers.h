// SPDX-License-Identifier: BSD-3-Clause
//
// Registers of the 82599 by their names in Intel's data sheet (331520), as far as the model does more than keep what was written.
// All are 32 bits wide; offsets are in BAR 0.
#ifndef MOSBENCH_NATIVE_NIC_REGISTERS_H
#define MOSBENCH_NATIVE_NIC_REGISTERS_H

#include <cstdint>

namespace mosbench::nic {

inline constexpr uint32_t kRegisterBytes = 0x20000;
inline constexpr uint32_t kQueues = 64; // the card has 128; no driver of ours uses more than 64
inline constexpr uint32_t kVectors = 64;
inline constexpr uint32_t kStatisticsQueues = 16;

namespace reg {

// General
inline constexpr uint32_t CTRL = 0x0, STATUS = 0x8, EEC = 0x10010, EERD = 0x10014, SWSM = 0x10140, FWSM = 0x10148, HICR = 0x15F00;
inline constexpr uint32_t MSCA = 0x425C, MSRWD = 0x4260, AUTOC = 0x42A0, LINKS = 0x42A4, AUTOC2 = 0x42A8, ANLP1 = 0x42B0;
inline constexpr uint32_t SECTXSTAT = 0x8804, SECRXSTAT = 0x8D04;

// Interrupts
inline constexpr uint32_t EICR = 0x800, EICS = 0x808, EIAC = 0x810, EIMS = 0x880, EIMC = 0x888, EIAM = 0x890, GPIE = 0x898;
inline constexpr uint32_t EICS_EX = 0xA90, EIMS_EX = 0xAA0, EIMC_EX = 0xAB0, EIAM_EX = 0xAD0; // two words each
inline constexpr uint32_t IVAR = 0x900, IVAR_MISC = 0xA00;
inline constexpr uint32_t EITR = 0x820, EITR_HIGH = 0x12300, EITR_LOW_COUNT = 24; // vectors from 24 on are elsewhere

// Receive
inline constexpr uint32_t RDBAL = 0x1000, RDBAH = 0x1004, RDLEN = 0x1008, RDH = 0x1010, SRRCTL = 0x1014, RDT = 0x1018,
                          RXDCTL = 0x1028;
inline constexpr uint32_t QUEUE_STRIDE = 0x40;
inline constexpr uint32_t SRRCTL_LOW = 0x2100, DCA_RXCTRL_LOW = 0x2200, LOW_COUNT = 16; // other places of queues 0 to 15
inline constexpr uint32_t DCA_RXCTRL = 0x100C;
inline constexpr uint32_t RDRXCTL = 0x2F00, RXCTRL = 0x3000, RXPBSIZE = 0x3C00, RXCSUM = 0x5000, FCTRL = 0x5080;
inline constexpr uint32_t RAL_LOW = 0x5400, RAL = 0xA200; // the first 16 addresses are in both places, RAH follows RAL
inline constexpr uint32_t RETA = 0x5C00, RSSRK = 0x5C80, MRQC = 0x5818;
inline constexpr uint32_t RQSMR = 0x2300, TQSM = 0x8600; // which statistics a queue counts in, four queues each

// Transmit
inline constexpr uint32_t TDBAL = 0x6000, TDBAH = 0x6004, TDLEN = 0x6008, TDH = 0x6010, TDT = 0x6018, TXDCTL = 0x6028;
inline constexpr uint32_t DMATXCTL = 0x4A80;

// Flow Director
inline constexpr uint32_t FDIRCTRL = 0xEE00, FDIRIPSA = 0xEE18, FDIRIPDA = 0xEE1C, FDIRPORT = 0xEE20, FDIRVLAN = 0xEE24;
inline constexpr uint32_t FDIRHASH = 0xEE28, FDIRCMD = 0xEE2C, FDIRFREE = 0xEE38, FDIRDIP4M = 0xEE3C, FDIRSIP4M = 0xEE40;
inline constexpr uint32_t FDIRTCPM = 0xEE44, FDIRUDPM = 0xEE48, FDIRUSTAT = 0xEE50, FDIRFSTAT = 0xEE54, FDIRMATCH = 0xEE58;
inline constexpr uint32_t FDIRMISS = 0xEE5C, FDIRM = 0xEE70;

// Counters, cleared by a read. Of two words where `L` is the first.
inline constexpr uint32_t MPC = 0x3FA0, RUC = 0x40A4, ROC = 0x40AC;
inline constexpr uint32_t PRC64 = 0x405C, PTC64 = 0x40D8; // and five more, for longer frames
inline constexpr uint32_t GPRC = 0x4074, BPRC = 0x4078, MPRC = 0x407C, GPTC = 0x4080, GORCL = 0x4088, GOTCL = 0x4090;
inline constexpr uint32_t TORL = 0x40C0, TPR = 0x40D0, TPT = 0x40D4, MPTC = 0x40F0, BPTC = 0x40F4;
inline constexpr uint32_t QPRC = 0x1030, QBRCL = 0x1034, QPRDC = 0x1430, QPTC = 0x6030, QBTC = 0x6034, QBTCL = 0x8700;

} // namespace reg

namespace bits {

inline constexpr uint32_t CTRL_GIO_DIS = 1u << 2, CTRL_LNK_RST = 1u << 3, CTRL_RST = 1u << 26;
inline constexpr uint32_t EEC_READY = 0x2300; // present, read at reset, 1024 words
inline constexpr uint32_t EERD_START = 1, EERD_DONE = 2;
inline constexpr uint32_t FWSM_VALID = 0x8000;
inline constexpr uint32_t MSCA_COMMAND = 1u << 30;
inline constexpr uint32_t AUTOC_10G_CX4 = 0x2300, AUTOC_RESTART = 1u << 12;
inline constexpr uint32_t LINKS_UP_10G = 0x70000000;
inline constexpr uint32_t ANLP1_ANSWERED = 0xF0000;
inline constexpr uint32_t RDRXCTL_DMAIDONE = 1u << 3;
inline constexpr uint32_t SECURITY_READY = 1;
inline constexpr uint32_t RXPBSIZE_512K = 0x80000;
inline constexpr uint32_t RAH_VALID = 1u << 31;

inline constexpr uint32_t GPIE_MSIX = 1u << 4, GPIE_OCD = 1u << 5, GPIE_EIAME = 1u << 30;
inline constexpr uint32_t CAUSE_VECTORS = 0xFFFF, CAUSE_FLOW_DIRECTOR = 1u << 16, CAUSE_DESCRIPTOR = 1u << 29;
inline constexpr uint32_t EITR_KEEP_COUNT = 1u << 31, EITR_INTERVAL = 0xFF8, EITR_UNIT_NS = 256; // 2.048 us / 8
inline constexpr uint32_t IVAR_VALID = 0x80;

inline constexpr uint32_t RXCTRL_RXEN = 1, DMATXCTL_TE = 1;
inline constexpr uint32_t DCTL_ENABLE = 1u << 25, DCTL_FLUSH = 1u << 26;
inline constexpr uint32_t FCTRL_MULTICAST = 1u << 8, FCTRL_UNICAST = 1u << 9, FCTRL_BROADCAST = 1u << 10;
inline constexpr uint32_t SRRCTL_DROP = 1u << 28;
inline constexpr uint32_t MRQC_RSS = 1, MRQC_TCP4 = 1u << 16, MRQC_IP4 = 1u << 17, MRQC_UDP4 = 1u << 22;

inline constexpr uint32_t FDIRCTRL_DONE = 1u << 3, FDIRCTRL_PERFECT = 1u << 4, FDIRCTRL_ALLOCATED = 3;
inline constexpr uint32_t FDIRCMD_COMMAND = 3, FDIRCMD_ADD = 1, FDIRCMD_REMOVE = 2, FDIRCMD_QUERY = 3, FDIRCMD_VALID = 1u << 2;
inline constexpr uint32_t FDIRCMD_CLEAR = 1u << 8, FDIRCMD_DROP = 1u << 9;
inline constexpr uint32_t FDIRM_VLAN = 1, FDIRM_L4 = 1u << 3;

} // namespace bits
} // namespace mosbench::nic

#endif
