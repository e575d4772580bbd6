// SPDX-License-Identifier: GPL-2.0-or-later
// A directory is dropped if nobody but the caller has it.

@unhash@
identifier dentry;
@@
dentry_unhash(struct dentry *dentry)
{
	...
	spin_lock(&dentry->d_lock);
+	mosbench_d_seal(dentry);
	...
+	mosbench_d_unseal(dentry);
	spin_unlock(&dentry->d_lock);
	...
}
