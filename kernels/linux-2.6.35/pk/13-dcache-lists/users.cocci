// SPDX-License-Identifier: GPL-2.0-or-later
// Sockets and pipes take a dentry that is on no list.

@allocate@
expression mount, name;
@@
-d_alloc(mount->mnt_sb->s_root, name)
+mosbench_d_alloc_unlisted(mount->mnt_sb, name)

@instantiate depends on allocate@
expression dentry, inode;
@@
-d_instantiate(dentry, inode);
+mosbench_d_instantiate_unlisted(dentry, inode);

@header depends on instantiate@
@@
#include <asm/uaccess.h>
+#include <linux/mosbench_dcache_lists.h>
