# SPDX-License-Identifier: BSD-3-Clause
"""An engine that lacks a part of the machine which the other has."""

from dataclasses import replace

import pytest

from harness.spec import point as points
from harness.spec.machine_schema import schema


def gem5_without_card(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine gem5 has no network card."""
    card = replace(schema().parts[points.NETWORK_CARD], engines=("fast",))
    poor = replace(schema(), parts={points.NETWORK_CARD: card})
    monkeypatch.setattr(points, "schema", lambda: poor)
