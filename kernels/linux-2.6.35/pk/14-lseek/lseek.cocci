// SPDX-License-Identifier: GPL-2.0-or-later
// The function that most file systems seek with returns before it takes the mutex.

@generic_seek@
typedef loff_t;
identifier opened, offset, origin, result;
expression inode;
@@
loff_t generic_file_llseek(struct file *opened, loff_t offset, int origin)
{
	...
+	if (MOSBENCH_LSEEK)
+		return mosbench_file_llseek(opened, offset, origin);
	mutex_lock(&inode->i_mutex);
	...
	result = generic_file_llseek_unlocked(opened, offset, origin);
	...
}

@header depends on generic_seek@
@@
#include <asm/uaccess.h>
+#include <linux/mosbench_lseek.h>
