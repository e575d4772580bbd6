# SPDX-License-Identifier: BSD-3-Clause
"""Host side of mosbench-gem5: from a point (machine, engine, kernel, workload, cores) to a run directory."""
