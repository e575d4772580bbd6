# SPDX-License-Identifier: BSD-3-Clause
"""Every check of `run.py verify` holds on the fast engine, the long ones at a small size: real kernels, real records."""

import pytest

import harness.verify
from harness import check

CHECKS = check.find(harness.verify)


@pytest.mark.guest
@pytest.mark.parametrize("name", sorted(CHECKS))
def test_holds(name: str) -> None:
    result = CHECKS[name].run(list(CHECKS[name].quick))
    assert result.passed, result.figure
