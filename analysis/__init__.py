# SPDX-License-Identifier: BSD-3-Clause
"""From a run directory to kernel types, call sites, bottlenecks, tables and a report.

Reads run directories and the kernel's debug information; knows nothing of the engine that made them.
"""
