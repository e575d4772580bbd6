# SPDX-License-Identifier: BSD-3-Clause
"""What must be said of the engine that made a run. The engine itself says it, in the run's provenance."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class EngineFacts:
    """``note`` stands beside the engine's name wherever that stands; ``cycles`` says whose its cycles are. Both may be empty."""

    name: str
    note: str = ""
    cycles: str = ""

    @property
    def label(self) -> str:
        """The name with its note in brackets."""
        return f"{self.name} ({self.note})" if self.note else self.name

    @property
    def caption(self) -> str:
        """What a table with cycles in it says of them."""
        return f"{self.label} engine" + (f"; cycles are {self.cycles}" if self.cycles else "")


def engine_facts(name: str, provenance: Mapping[str, Any]) -> EngineFacts:
    """The facts of the engine ``name`` in a provenance.json."""
    said = provenance.get("engine") or {}
    return EngineFacts(name, str(said.get("note") or ""), str(said.get("cycles") or ""))
