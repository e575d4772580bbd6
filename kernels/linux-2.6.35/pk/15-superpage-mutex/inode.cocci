// SPDX-License-Identifier: GPL-2.0-or-later
// The constructor of hugetlbfs inodes makes the mutex.

@inode_init@
identifier object, info;
@@
init_once(void *object)
{
	...
+	mosbench_superpage_mutex_init(info);
	inode_init_once(&info->vfs_inode);
	...
}

@header depends on inode_init@
@@
#include <linux/hugetlb.h>
+#include <linux/mosbench_superpage_mutex.h>
