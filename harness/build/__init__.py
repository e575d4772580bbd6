# SPDX-License-Identifier: BSD-3-Clause
"""What a point runs on: kernels, the disk image, the fast engine, and the host packages that their builds need."""
