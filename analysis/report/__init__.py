# SPDX-License-Identifier: BSD-3-Clause
"""From run directories to findings: shares of bottlenecks, comparisons, tables, figures and the HTML page."""
