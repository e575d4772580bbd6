/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Guest memory at the end of the region, as a file.
 */
#ifndef MOSBENCH_SNAPSHOT_H
#define MOSBENCH_SNAPSHOT_H

bool mosbench_write_snapshot(const char *path, Error **errp);

#endif
