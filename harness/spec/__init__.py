# SPDX-License-Identifier: BSD-3-Clause
"""What can be asked for, as data: machines, workloads, kernels with their fixes, points and sweeps. Builds and runs nothing."""
