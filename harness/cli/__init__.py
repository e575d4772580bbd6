# SPDX-License-Identifier: BSD-3-Clause
"""Subcommands of run.py: each module has ``configure(parser)`` and ``main(arguments) -> exit status``."""
