# SPDX-License-Identifier: BSD-3-Clause
from m5.objects.PciDevice import PciDevice, PciMemBar
from m5.params import *
from m5.proxy import *
from m5.SimObject import PyBindMethod


class NetworkCard(PciDevice):
    """The PCI function of the network card (docs/reference/card.md). What it does is in a library that knows of no engine."""

    type = "NetworkCard"
    cxx_class = "gem5::ruby::NetworkCard"
    cxx_header = "mosbench/network_card.hh"
    cxx_exports = [PyBindMethod("writeMetrics"), PyBindMethod("standStill")]

    library = Param.String("shared object with the card and what hangs on its wire (native/load/card_abi.h)")
    settings = Param.String("file with the card's settings, a 'key value' line for each")
    tap = Param.LineTap(NULL, "who counts the lines that the card reads and writes")
    history = Param.AccessHistory(
        NULL, "where its writes go; with one, what is on the wire need not arrive for gem5 to be drained"
    )
    int_requestor = RequestPort("to the processors' interrupt controllers")
    int_latency = Param.Latency("1ns", "of a message on its way to an interrupt controller")

    # The words are those of card_abi.h, which the constructor holds them to.
    VendorID = 0x8086
    DeviceID = 0x10F9
    Revision = 1
    ClassCode = 0x02
    SubClassCode = 0x00
    Status = 0x10  # has capabilities
    CapabilityPtr = 0x50
    InterruptPin = 0
    BAR0 = PciMemBar(size="128KiB")
    BAR4 = PciMemBar(size="16KiB")
