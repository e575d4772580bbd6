# SPDX-License-Identifier: BSD-3-Clause
"""What gem5 executes to say what it is: one line "@gem5 {JSON object}" with version, protocol and the SimObjects that it has."""

import json

import m5.defines
import m5.objects
from _m5 import core

_OURS = (
    "X86ACPIRawTable",
    "LineTap",
    "CoreSequencer",
    "SocketRouting",
    "MemorySnapshot",
    "NetworkCard",
    "CacheWarmer",
    "CachingDecoder",
    "DirectCPU",
    "ReferenceMemory",
    "WriteCombining",
    "LineTap.chain_period",
)


def known(name: str) -> bool:
    """Whether this gem5 has a SimObject, or a parameter of one."""
    of, _, parameter = name.partition(".")
    return hasattr(m5.objects, of) and (not parameter or parameter in getattr(m5.objects, of)._params)


print(
    "@gem5 "
    + json.dumps(
        {
            "event": "probe",
            "version": core.gem5Version,
            "protocol": m5.defines.buildEnv.get("PROTOCOL", ""),
            "x86": hasattr(m5.objects, "X86TimingSimpleCPU"),
            "objects": [name for name in _OURS if known(name)],
        }
    ),
    flush=True,
)
