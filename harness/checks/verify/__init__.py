# SPDX-License-Identifier: BSD-3-Clause
"""Checks of `run.py verify`. See harness/checks/registry.py."""
