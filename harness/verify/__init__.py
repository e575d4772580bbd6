# SPDX-License-Identifier: BSD-3-Clause
"""Checks of `run.py verify`. See harness/check.py."""
