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
identifier entry;
@@
dentry_iput(struct dentry *entry)
{
	<+...
	entry->d_inode = NULL;
+	mosbench_d_unseal(entry);
	...+>
}

@rehash@
identifier entry;
@@
_d_rehash(struct dentry *entry)
{
	...
	__d_rehash(entry, ...);
+	mosbench_d_unseal(entry);
	...
}

@move@
identifier entry, target;
@@
d_move_locked(struct dentry *entry, struct dentry *target)
{
	...
+	mosbench_d_seal(entry);
+	mosbench_d_seal(target);
	if (d_unhashed(entry)) goto already_unhashed;
	...
+	mosbench_d_unseal(entry);
	spin_unlock(&target->d_lock);
	...
}

@invalidate@
identifier entry;
expression count;
@@
d_invalidate(struct dentry *entry)
{
	...
	spin_lock(&entry->d_lock);
+	mosbench_d_seal(entry);
	if (count > 1)
	{
		if (...)
		{
+			mosbench_d_unseal(entry);
			spin_unlock(&entry->d_lock);
			...
		}
	}
	...
}

@delete@
identifier entry;
@@
d_delete(struct dentry *entry)
{
	...
	spin_lock(&entry->d_lock);
+	mosbench_d_seal(entry);
	...
}

@header depends on lookup@
@@
#include <linux/fs.h>
+#include <linux/mosbench_dentry_lookup.h>
