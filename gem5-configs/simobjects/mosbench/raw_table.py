# SPDX-License-Identifier: BSD-3-Clause
from m5.objects.ACPI import X86ACPISysDescTable
from m5.params import *


class X86ACPIRawTable(X86ACPISysDescTable):
    """An ACPI table whose body was packed elsewhere; header, checksum and place in memory are gem5's."""

    type = "X86ACPIRawTable"
    cxx_class = "gem5::X86ISA::ACPI::RawTable"
    cxx_header = "mosbench/raw_table.hh"

    signature = Param.String("four characters")
    revision = Param.UInt8(1, "revision of the table")
    body = VectorParam.UInt8([], "the bytes after the header")
    tables = VectorParam.X86ACPISysDescTable([], "tables that the body points to")
    pointers = VectorParam.Unsigned([], "for each of `tables`, the offset in the body of its 32-bit address")
