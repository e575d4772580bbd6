// SPDX-License-Identifier: GPL-2.0-or-later
// Where a walk without references ends, and where an open file takes its reference, a spare one will do.

@legitimize@
identifier path;
@@
__legitimize_path(struct path *path, ...)
{
	<...
-	lockref_get_not_dead(&path->dentry->d_lockref)
+	mosbench_dentry_get_not_dead(path->dentry)
	...>
}

@get@
identifier path;
@@
void path_get(const struct path *path)
{
	...
-	dget(path->dentry);
+	mosbench_dentry_get(path->dentry);
}

@header depends on legitimize@
@@
#include <linux/namei.h>
+#include <linux/mosbench_dentry.h>
