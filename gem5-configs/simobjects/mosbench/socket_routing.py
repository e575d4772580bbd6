# SPDX-License-Identifier: BSD-3-Clause
from m5.objects.SimpleNetwork import WeightBased
from m5.params import *


class SocketRouting(WeightBased):
    """Routes as its base class does, lets a reader leave the owner of a line a copy, and shows each message to the tap."""

    type = "SocketRouting"
    cxx_class = "gem5::ruby::SocketRouting"
    cxx_header = "mosbench/socket_routing.hh"

    tap = Param.LineTap(NULL, "who counts; may be nobody")
    socket = Param.Unsigned("the socket of the router")
    cores = VectorParam.Unsigned([], "numbers of the socket's cache controllers")
    caches = VectorParam.RubyCache([], "caches of each of `cores`, as many of each")
