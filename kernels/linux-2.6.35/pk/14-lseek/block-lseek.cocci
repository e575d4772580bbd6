// SPDX-License-Identifier: GPL-2.0-or-later
// Block devices seek with a function of their own, which takes the mutex of the device's inode.

@block_seek@
typedef loff_t;
identifier opened, offset, origin, inode;
@@
loff_t block_llseek(struct file *opened, loff_t offset, int origin)
{
	...
+	if (MOSBENCH_LSEEK)
+		return mosbench_block_llseek(opened, offset, origin);
	mutex_lock(&inode->i_mutex);
	...
}

@header depends on block_seek@
@@
#include <asm/uaccess.h>
+#include <linux/mosbench_lseek.h>
