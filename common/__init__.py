# SPDX-License-Identifier: BSD-3-Clause
"""What every other part uses: outcomes, paths, settings, progress, terminal, locks, cache. Imports nothing above it."""
