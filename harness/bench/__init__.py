# SPDX-License-Identifier: BSD-3-Clause
"""Checks of `run.py bench`: one module each with ``NAME``, ``SUMMARY`` and ``run(arguments) -> harness.check.Check``."""
