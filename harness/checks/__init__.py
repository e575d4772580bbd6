# SPDX-License-Identifier: BSD-3-Clause
"""What the project promises, as checks that a command runs: verify (right or wrong) and bench (how fast)."""
