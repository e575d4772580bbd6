# SPDX-License-Identifier: BSD-3-Clause
"""The protocol with an L3 in a real gem5: its random testers, a few thousand accesses each, and faults that they must find."""

import argparse

import pytest

from harness.checks.verify import protocol

pytestmark = pytest.mark.gem5


def test_random_testers_find_no_fault_but_those_in_their_traffic(capsys: pytest.CaptureFixture[str]) -> None:
    if why := protocol.why_no_testers():
        pytest.skip(why)
    arguments = argparse.Namespace(quick=True, parts="testers", accesses=12_000, seeds=2)
    ended = protocol.run(arguments)
    assert ended.passed, ended.figure
    assert "22 random testers" in ended.figure
    assert capsys.readouterr().out.count("adds were over") == len(("unlocked", "whole-line"))
