// SPDX-License-Identifier: GPL-2.0-or-later
// A file is removed from the server if nobody but the caller has it, and renamed otherwise.

@unlink@
identifier dentry;
@@
nfs_unlink(struct inode *dir, struct dentry *dentry)
{
	...
	spin_lock(&dentry->d_lock);
+	mosbench_d_seal(dentry);
	if (atomic_read(&dentry->d_count) > 1)
	{
+		mosbench_d_unseal(dentry);
		spin_unlock(&dentry->d_lock);
		...
	}
	...
+	mosbench_d_unseal(dentry);
	spin_unlock(&dentry->d_lock);
	...
}
