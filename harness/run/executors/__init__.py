# SPDX-License-Identifier: BSD-3-Clause
"""Executors: ways to run many points, each by the one command that runs one point."""
