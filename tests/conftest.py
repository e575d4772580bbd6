# SPDX-License-Identifier: BSD-3-Clause
"""Layers: a test without another layer's mark is a unit test; layers that this host cannot run are skipped with the reason."""

import pytest

from harness.cli.test import SOURCES, skip_reason

LAYERS = ("browser", "guest", "gem5", *SOURCES)


def pytest_configure(config: pytest.Config) -> None:
    for layer, source in SOURCES.items():
        config.addinivalue_line("markers", f"{layer}: needs a source tree of {source} (named in the settings)")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        marks = [layer for layer in LAYERS if item.get_closest_marker(layer)]
        if not marks:
            item.add_marker(pytest.mark.unit)
        for reason in filter(None, map(skip_reason, marks)):
            item.add_marker(pytest.mark.skip(reason=reason))
