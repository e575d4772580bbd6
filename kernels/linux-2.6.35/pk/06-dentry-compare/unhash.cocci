// SPDX-License-Identifier: GPL-2.0-or-later
// A directory is dropped if nobody but the caller has it.

@unhash@
identifier entry;
@@
dentry_unhash(struct dentry *entry)
{
	...
	spin_lock(&entry->d_lock);
+	mosbench_d_seal(entry);
	...
+	mosbench_d_unseal(entry);
	spin_unlock(&entry->d_lock);
	...
}
