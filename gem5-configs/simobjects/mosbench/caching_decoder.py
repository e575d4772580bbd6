# SPDX-License-Identifier: BSD-3-Clause
from m5.objects.X86Decoder import X86Decoder


class CachingDecoder(X86Decoder):
    """A decoder that finds what some processor has decoded before."""

    type = "CachingDecoder"
    cxx_class = "gem5::CachingDecoder"
    cxx_header = "mosbench/caching_decoder.hh"
