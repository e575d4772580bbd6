/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Preloaded into initdb and the servers that it starts while the image is built: what would make each cluster of databases
 * another one (the time, process numbers, random numbers) is always the same.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define FIXED_TIME 1704067200 /* the image's `epoch`: 1 January 2024 */
#define FIXED_PROCESS 48

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    (void)zone;
    *now = (struct timeval){.tv_sec = FIXED_TIME};
    return 0;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    if (clock != CLOCK_REALTIME)
        return (int)syscall(SYS_clock_gettime, clock, now);
    *now = (struct timespec){.tv_sec = FIXED_TIME};
    return 0;
}

time_t time(time_t *now)
{
    if (now)
        *now = FIXED_TIME;
    return FIXED_TIME;
}

pid_t getpid(void)
{
    return FIXED_PROCESS;
}

/* A process that signals itself means itself. */
int kill(pid_t process, int signal)
{
    return (int)syscall(SYS_kill, process == FIXED_PROCESS ? (pid_t)syscall(SYS_getpid) : process, signal);
}

/* OpenSSL's: the secret of passwords, which nobody here has. */
int RAND_bytes(unsigned char *bytes, int count)
{
    memset(bytes, 48, (size_t)count);
    return 1;
}
