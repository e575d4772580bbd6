/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * getrandom from the pool behind /dev/urandom, whatever the flags: the simulated machine has no source of entropy that could be
 * waited for.
 */
#include <linux/kernel.h>
#include <linux/random.h>
#include <linux/syscalls.h>
#include <linux/uaccess.h>

#define KNOWN_FLAGS 7 /* GRND_NONBLOCK, GRND_RANDOM, GRND_INSECURE */

SYSCALL_DEFINE3(getrandom, char __user *, buffer, size_t, count, unsigned int, flags)
{
	char part[256];
	size_t done = 0;

	if (flags & ~KNOWN_FLAGS)
		return -EINVAL;
	count = min_t(size_t, count, INT_MAX);
	while (done < count) {
		size_t length = min(count - done, sizeof(part));

		if (done && signal_pending(current))
			break;
		get_random_bytes(part, length);
		if (copy_to_user(buffer + done, part, length))
			return -EFAULT;
		done += length;
	}
	memset(part, 0, sizeof(part));
	return done;
}
