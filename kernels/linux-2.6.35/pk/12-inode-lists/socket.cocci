// SPDX-License-Identifier: GPL-2.0-or-later
// The file system of sockets says that its inodes need no lists.

@sockets@
identifier type;
@@
struct file_system_type type = {
	.name = "sockfs",
+	.fs_flags = MOSBENCH_FS_UNLISTED,
	...
};

@header depends on sockets@
@@
#include <asm/uaccess.h>
+#include <linux/mosbench_inode_lists.h>
