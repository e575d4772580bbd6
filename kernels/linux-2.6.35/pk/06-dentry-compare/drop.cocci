// SPDX-License-Identifier: GPL-2.0-or-later
// A dentry that is not hashed is sealed.

@drop@
identifier entry;
@@
__d_drop(struct dentry *entry)
{
	<+...
	entry->d_flags |= DCACHE_UNHASHED;
+	mosbench_d_seal(entry);
	...+>
}

@header depends on drop@
@@
#include <linux/rcupdate.h>
+#include <linux/mosbench_dentry_compare.h>
