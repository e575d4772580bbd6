/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two flags of fstatat that came after Linux 2.6.35. AT_NO_AUTOMOUNT asks for what this kernel does anyway. AT_EMPTY_PATH with an
 * empty name asks for the status of the descriptor itself. Calls without these flags pay one test.
 */
#ifndef MOSBENCH_FSTATAT_H
#define MOSBENCH_FSTATAT_H

#include <linux/fcntl.h>
#include <linux/fs_struct.h>
#include <linux/path.h>
#include <linux/uaccess.h>

#ifndef AT_NO_AUTOMOUNT
#define AT_NO_AUTOMOUNT 0x800
#endif
#ifndef AT_EMPTY_PATH
#define AT_EMPTY_PATH 0x1000
#endif

/* Takes both flags out of *flag. True if the call is thereby answered, with its result in *error. */
static noinline bool mosbench_fstatat_new_flags(int dfd, char __user *name, struct kstat *stat, int *flag, int *error)
{
	bool empty_allowed = *flag & AT_EMPTY_PATH;
	struct path path;
	char first;

	*flag &= ~(AT_NO_AUTOMOUNT | AT_EMPTY_PATH);
	if (!empty_allowed)
		return false;
	*error = -EFAULT;
	if (get_user(first, name))
		return true;
	if (first)
		return false;
	if (dfd == AT_FDCWD) {
		read_lock(&current->fs->lock);
		path = current->fs->pwd;
		path_get(&path);
		read_unlock(&current->fs->lock);
		*error = vfs_getattr(path.mnt, path.dentry, stat);
		path_put(&path);
	} else {
		*error = vfs_fstat(dfd, stat);
	}
	return true;
}

static inline bool mosbench_fstatat_of_descriptor(int dfd, char __user *name, struct kstat *stat, int *flag, int *error)
{
	if (likely(!(*flag & (AT_NO_AUTOMOUNT | AT_EMPTY_PATH))))
		return false;
	return mosbench_fstatat_new_flags(dfd, name, stat, flag, error);
}

#endif
