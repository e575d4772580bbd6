// SPDX-License-Identifier: GPL-2.0-or-later
// A file is removed from the server if nobody but the caller has it, and renamed otherwise.

@unlink@
identifier folder, entry;
@@
nfs_unlink(struct inode *folder, struct dentry *entry)
{
	...
	spin_lock(&entry->d_lock);
+	mosbench_d_seal(entry);
	if (atomic_read(&entry->d_count) > 1)
	{
+		mosbench_d_unseal(entry);
		spin_unlock(&entry->d_lock);
		...
	}
	...
+	mosbench_d_unseal(entry);
	spin_unlock(&entry->d_lock);
	...
}
