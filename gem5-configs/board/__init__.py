# SPDX-License-Identifier: BSD-3-Clause
"""An x86 machine with many sockets for gem5's full-system mode, made from a machine file.

Components that a script of one's own can take singly, in the manner of gem5's standard library. What needs no gem5 (the machine
file, the layout of memory, the ACPI tables) imports none of it. ``gem5-configs`` must be on Python's path; see README.md beside
this folder and examples/.
"""
