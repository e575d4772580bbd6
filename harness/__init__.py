# SPDX-License-Identifier: BSD-3-Clause
"""From words of the user to complete run directories: spec (data) <- build <- run <- checks <- cli, imported leftwards."""
