// SPDX-License-Identifier: GPL-2.0-or-later
// A dentry without a parent is counted and put away without dcache_lock.

@make@
identifier parent, name, dentry;
@@
d_alloc(struct dentry *parent, const struct qstr *name)
{
	...
	struct dentry *dentry;
	...
+	if (mosbench_d_unlisted(parent))
+		return dentry;
	spin_lock(&dcache_lock);
	...
	dentry_stat.nr_dentry++;
	...
}

@put@
identifier dentry;
@@
dput(struct dentry *dentry)
{
	if (!dentry)
		return;
+	if (mosbench_dput_unlisted(dentry, d_free))
+		return;
	...
}

@header depends on make@
@@
#include <linux/fs.h>
+#include <linux/mosbench_dcache_lists.h>
