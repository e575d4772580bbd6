# SPDX-License-Identifier: BSD-3-Clause
"""Where in a region windows are measured."""

import random
from dataclasses import dataclass


@dataclass(frozen=True)
class Plan:
    """``count`` windows of ``cycles`` in a region in which programs execute about ``instructions``; before each, as many cycles
    as ``lead`` says are simulated that do not count."""

    count: int
    cycles: int
    lead: int
    instructions: int
    seed: str

    def places(self) -> list[int]:
        """Where windows begin, in instructions of programs from the region's beginning on: one in each of as many equal parts of
        the region, anywhere in it."""
        drawn = random.Random(self.seed)
        part = self.instructions / max(self.count, 1)
        return [int((number + drawn.random()) * part) for number in range(self.count)]
