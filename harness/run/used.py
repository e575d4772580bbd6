# SPDX-License-Identifier: BSD-3-Clause
"""What a run took of the host: processor time, and the memory of the largest process."""

import os
import resource
from dataclasses import dataclass


@dataclass(frozen=True)
class Used:
    """Of this process and the children that it waited for. ``peak_bytes`` is the largest resident size of any of them so far:
    where several points run in one process it may be an earlier one's."""

    processor_seconds: float
    peak_bytes: int

    def since(self, before: "Used") -> "Used":
        """What was used since ``before``."""
        return Used(self.processor_seconds - before.processor_seconds, self.peak_bytes)


def used() -> Used:
    """What has been used so far."""
    peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return Used(sum(os.times()[:4]), peak << 10)
