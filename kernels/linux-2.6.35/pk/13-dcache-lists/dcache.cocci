// SPDX-License-Identifier: GPL-2.0-or-later
// A dentry without a parent is counted and put away without dcache_lock.

@make@
identifier parent, name, entry;
@@
d_alloc(struct dentry *parent, const struct qstr *name)
{
	...
	struct dentry *entry;
	...
+	if (mosbench_d_unlisted(parent))
+		return entry;
	spin_lock(&dcache_lock);
	...
	dentry_stat.nr_dentry++;
	...
}

@put@
identifier entry;
@@
dput(struct dentry *entry)
{
	if (!entry)
		return;
+	if (mosbench_dput_unlisted(entry, d_free))
+		return;
	...
}

@header depends on make@
@@
#include <linux/fs.h>
+#include <linux/mosbench_dcache_lists.h>
