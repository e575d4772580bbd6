# SPDX-License-Identifier: BSD-3-Clause
"""Every check of `run.py verify` holds on the fast engine, the long ones at a small size: real kernels, real records.

Those that build a kernel for each fix, or need every application's full size, are run by command only.
"""

import pytest

import harness.checks.verify
from harness.checks import registry

CHECKS = registry.find(harness.checks.verify)


@pytest.mark.guest
@pytest.mark.parametrize("name", sorted(name for name, one in CHECKS.items() if one.quick is not None))
def test_holds(name: str) -> None:
    result = CHECKS[name].run(list(CHECKS[name].quick or ()))
    assert result.passed, result.line
