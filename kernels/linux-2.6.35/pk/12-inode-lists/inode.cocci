// SPDX-License-Identifier: GPL-2.0-or-later
// Inodes of a file system that says so are made and freed without the lock of the inode lists.

@prefetch@
identifier super;
@@
new_inode(struct super_block *super)
{
	<+...
-	spin_lock_prefetch(&inode_lock);
+	mosbench_inode_lock_prefetch(super);
	...+>
}

@make@
identifier super, inode;
@@
new_inode(struct super_block *super)
{
	...
	if (inode)
	{
+		if (mosbench_new_unlisted_inode(super, inode))
+			return inode;
		spin_lock(&inode_lock);
		...
	}
	...
}

@put@
identifier node;
@@
iput(struct inode *node)
{
	<+...
-	atomic_dec_and_lock(&node->i_count, &inode_lock)
+	!mosbench_iput_unlisted(node) && atomic_dec_and_lock(&node->i_count, &inode_lock)
	...+>
}

@header depends on make@
@@
#include <linux/fs.h>
+#include <linux/mosbench_inode_lists.h>
