# SPDX-License-Identifier: BSD-3-Clause
"""What the board says of something that it cannot have."""


class BoardError(ValueError):
    """A machine, a point or a gem5 that the board cannot have. `harness.run.engines.gem5_log` tells it by this name."""
