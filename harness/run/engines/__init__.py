# SPDX-License-Identifier: BSD-3-Clause
"""Engines: what executes a point."""
