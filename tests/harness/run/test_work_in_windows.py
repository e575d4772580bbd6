# SPDX-License-Identifier: BSD-3-Clause
"""What work falls to the windows in which a region was measured."""

from harness.run.metrics import in_windows


def test_windows_have_the_share_of_the_work_that_they_have_of_its_instructions() -> None:
    measured = [{"program_instructions": 100}, {"program_instructions": 150}]
    result = {"units": 40, "per_core": [10, 30], "cycles_per_core": [400, 400], "unit": "opens"}
    assert in_windows(result, {"program_instructions": 1000, "windows": measured}, 100) == {
        "units": 10.0,
        "per_core": [2.5, 7.5],
        "cycles_per_core": [100, 100],
        "unit": "opens",
    }
