# SPDX-License-Identifier: BSD-3-Clause
"""Checks of `run.py bench`. See harness/checks/registry.py."""
