# SPDX-License-Identifier: BSD-3-Clause
"""Points become run directories: engines execute them, executors spread them, the run directory says what is complete."""
