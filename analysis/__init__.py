# SPDX-License-Identifier: BSD-3-Clause
"""From run directories to answers: attribute (records to kernel types, fields and code), report (answers for people)."""
