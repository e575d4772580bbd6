// SPDX-License-Identifier: BSD-3-Clause
#ifndef MOSBENCH_RAW_TABLE_HH
#define MOSBENCH_RAW_TABLE_HH

#include <string>
#include <vector>

#include "mosbench/gem5_api.hh"

namespace gem5::X86ISA::ACPI {

// Any ACPI table, its body packed by the configuration script (SRAT, SLIT, FADT, DSDT).
class RawTable : public SysDescTable {
  public:
    PARAMS(X86ACPIRawTable);
    explicit RawTable(const Params &p);

  protected:
    Addr writeBuf(PortProxy &memory, Allocator &allocator, std::vector<uint8_t> &bytes) const override;

  private:
    std::string signature_text_; // the base class keeps a pointer
};

} // namespace gem5::X86ISA::ACPI

#endif
