// SPDX-License-Identifier: GPL-2.0-or-later
// Look-up first tries without the lock. Everything that changes a dentry's name, parent or place, or that decides something because
// nobody else has the dentry, seals it first, so that a look-up without the lock notices.

@lookup@
identifier parent, name, head, found;
@@
__d_lookup(struct dentry *parent, struct qstr *name)
{
	...
	struct hlist_head *head = ...;
	...
	struct dentry *found = NULL;
	...
+	if (mosbench_d_lookup(parent, name, head, &found))
+		return found;
	rcu_read_lock();
	...
}

@make@
identifier dentry;
@@
d_alloc(...)
{
	...
	dentry->d_flags = DCACHE_UNHASHED;
+	mosbench_d_new(dentry);
	...
}

@put_inode@
identifier dentry;
@@
dentry_iput(struct dentry *dentry)
{
	<+...
	dentry->d_inode = NULL;
+	mosbench_d_unseal(dentry);
	...+>
}

@rehash@
identifier dentry;
@@
_d_rehash(struct dentry *dentry)
{
	...
	__d_rehash(dentry, ...);
+	mosbench_d_unseal(dentry);
	...
}

@move@
identifier dentry, target;
@@
d_move_locked(struct dentry *dentry, struct dentry *target)
{
	...
+	mosbench_d_seal(dentry);
+	mosbench_d_seal(target);
	if (d_unhashed(dentry)) goto already_unhashed;
	...
+	mosbench_d_unseal(dentry);
	spin_unlock(&target->d_lock);
	...
}

@invalidate@
identifier dentry;
@@
d_invalidate(struct dentry *dentry)
{
	...
	spin_lock(&dentry->d_lock);
+	mosbench_d_seal(dentry);
	if (atomic_read(&dentry->d_count) > 1)
	{
		if (...)
		{
+			mosbench_d_unseal(dentry);
			spin_unlock(&dentry->d_lock);
			...
		}
	}
	...
}

@delete@
identifier dentry;
@@
d_delete(struct dentry *dentry)
{
	...
	spin_lock(&dentry->d_lock);
+	mosbench_d_seal(dentry);
	...
}

@header depends on lookup@
@@
#include <linux/fs.h>
+#include <linux/mosbench_dentry_compare.h>
