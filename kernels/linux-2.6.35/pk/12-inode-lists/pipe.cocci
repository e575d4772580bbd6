// SPDX-License-Identifier: GPL-2.0-or-later
// The file system of pipes says that its inodes need no lists.

@pipes@
identifier type;
@@
struct file_system_type type = {
	.name = "pipefs",
+	.fs_flags = MOSBENCH_FS_UNLISTED,
	...
};

@header depends on pipes@
@@
#include <asm/uaccess.h>
+#include <linux/mosbench_inode_lists.h>
