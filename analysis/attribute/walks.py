# SPDX-License-Identifier: BSD-3-Clause
"""Walks through the guest's memory that had to be given up, counted.

The snapshot is taken while the guest runs: a list may be half changed, and a pointer may lead to memory that is not mapped. What
is behind such a place stays without a name, and a reader of the run is told that there was one.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import drgn


class Walks:
    """``abandoned`` counts, for each thing that was looked for, the walks that did not come to their end."""

    def __init__(self) -> None:
        self.abandoned: Counter[str] = Counter()

    def give_up(self, what: str) -> None:
        """Count a walk for ``what`` that ends here."""
        self.abandoned[what] += 1

    @contextmanager
    def attempt(self, what: str) -> Iterator[None]:
        """The body walks for ``what``; where memory is not mapped it ends, and that is counted."""
        try:
            yield
        except drgn.FaultError:
            self.give_up(what)
