// SPDX-License-Identifier: GPL-2.0-or-later
// References are kept where they are dropped; spares are given back where a dentry leaves its place or its count decides.

@put@
identifier dentry;
@@
void dput(struct dentry *dentry)
{
	while (dentry) {
		might_sleep();
+		dentry = mosbench_dentry_keep(dentry);
+		if (!dentry)
+			return;
		...
	}
}

@unhash@
identifier dentry;
@@
void __d_drop(struct dentry *dentry)
{
	if (!d_unhashed(dentry)) {
		...
		dentry->d_hash.pprev = NULL;
+		mosbench_dentry_drain(dentry);
		...
	}
}

@delete@
identifier dentry;
@@
void d_delete(struct dentry *dentry)
{
	...
	spin_lock(&dentry->d_lock);
+	mosbench_dentry_drain(dentry);
	...
}

@move@
identifier dentry, target, exchange;
@@
__d_move(struct dentry *dentry, struct dentry *target, bool exchange)
{
	<...
	target->d_hash.pprev = NULL;
+	mosbench_dentry_drain(target);
	...>
}

@umount@
identifier sb;
@@
void shrink_dcache_for_umount(struct super_block *sb)
{
	...
+	mosbench_dentry_drain_all(sb);
	dentry = sb->s_root;
	...
}

@header depends on put@
@@
#include <linux/fs.h>
+#include <linux/mosbench_dentry.h>
