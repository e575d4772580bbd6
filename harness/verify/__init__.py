# SPDX-License-Identifier: BSD-3-Clause
"""Checks of `run.py verify`: one module each with ``NAME``, ``SUMMARY`` and ``run(arguments) -> harness.check.Check``."""
