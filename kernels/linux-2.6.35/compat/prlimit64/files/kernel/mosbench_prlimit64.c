/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prlimit64 for the calling process. On a 64-bit kernel its structure is that of getrlimit and setrlimit, which therefore do the
 * work. Limits of another process are refused: this kernel has no way to change them, and nothing here asks for it.
 */
#include <linux/resource.h>
#include <linux/sched.h>
#include <linux/syscalls.h>
#include <linux/uaccess.h>

SYSCALL_DEFINE4(prlimit64, pid_t, pid, unsigned int, resource, struct rlimit __user *, new_limit, struct rlimit __user *,
		old_limit)
{
	struct rlimit old;
	long error;

	BUILD_BUG_ON(sizeof(struct rlimit) != 16);
	if (resource >= RLIM_NLIMITS)
		return -EINVAL;
	if (pid && pid != task_tgid_vnr(current))
		return -EPERM;
	task_lock(current->group_leader);
	old = current->signal->rlim[resource];
	task_unlock(current->group_leader);
	if (new_limit) {
		error = sys_setrlimit(resource, new_limit);
		if (error)
			return error;
	}
	if (old_limit && copy_to_user(old_limit, &old, sizeof(old)))
		return -EFAULT;
	return 0;
}
