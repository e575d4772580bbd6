/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Mounts that expire, move and are copied into other name spaces. Each worker has mounts of its own, whose answers are known,
 * under a folder that all look up paths in; now and then it takes a name space of its own, or hands a file to another core. What
 * must hold: an idle mount expires at the second try (see MARK_LOSSES) and not at the first, one used in between or in use does
 * not; a mount that was moved is where it was moved to; what another name space mounts is not seen here.
 */
#define _GNU_SOURCE
#include "stress.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>

/*
 * Path walks take no references since 2.6.38. One that another core's mount or umount overtakes at its end (__legitimize_mnt)
 * drops the reference it just took with mntput(), and so takes the mark of an expiring mount away: the try it walked for marks
 * the mount again instead of ending it. So many more tries may be needed; a kernel that always loses the mark is found.
 */
#define MARK_LOSSES 4

static unsigned mark_losses;

/* Before the workers exist. */
static void look_at_kernel(void)
{
    struct utsname name;
    unsigned version = 0, patch_level = 0, sublevel = 0;

    MUST(uname(&name) == 0 && sscanf(name.release, "%u.%u.%u", &version, &patch_level, &sublevel) >= 2, "what kernel is this?");
    mark_losses = version > 2 || sublevel >= 38 ? MARK_LOSSES : 0;
}

static void make_folder(const char *name)
{
    MUST(mkdir(name, 0755) == 0 || errno == EEXIST, "cannot make the folder %s", name);
}

static void expire(struct worker *worker, const char *point, const char *file)
{
    struct stat status;
    unsigned lost = 0;
    int fd;

    MUST(umount2(point, MNT_EXPIRE) < 0 && errno == EAGAIN, "%s expired at the first try, or for another reason did not", point);
    MUST(stat(file, &status) == 0, "cannot stat %s", file);
    MUST(umount2(point, MNT_EXPIRE) < 0 && errno == EAGAIN, "%s expired though it was used in between", point);
    fd = open(file, O_RDONLY);
    MUST(fd >= 0, "cannot open %s", file);
    MUST(umount2(point, MNT_EXPIRE) < 0 && errno == EBUSY, "%s with an open file is not busy to an expiring umount", point);
    MUST(close(fd) == 0, "cannot close %s", file);
    MUST(umount2(point, MNT_EXPIRE) < 0 && errno == EAGAIN, "%s expired though a file was closed in between", point);
    while (umount2(point, MNT_EXPIRE) < 0) {
        MUST(errno == EAGAIN && lost < mark_losses, "%s did not expire at the second try, nor at %u more", point, lost);
        lost++;
    }
    did(worker, 8 + lost);
}

/* A child on another core closes the last file: its reference was taken here and is dropped there. */
static void close_elsewhere(struct worker *worker, const char *point, const char *file)
{
    int pipes[2], fd = open(file, O_RDONLY), status;
    cpu_set_t here, elsewhere;
    pid_t child;
    char byte;

    MUST(fd >= 0 && pipe(pipes) == 0, "cannot open %s", file);
    child = fork();
    MUST(child >= 0, "cannot fork");
    if (!child) {
        memset(&elsewhere, 0xff, sizeof(elsewhere));
        if (sched_getaffinity(0, sizeof(here), &here))
            _exit(2);
        CPU_XOR(&elsewhere, &elsewhere, &here);
        if (sched_setaffinity(0, sizeof(elsewhere), &elsewhere))
            _exit(3);
        close(pipes[1]);
        (void)!read(pipes[0], &byte, 1);
        close(fd);
        _exit(0);
    }
    close(fd);
    MUST(umount(point) < 0 && errno == EBUSY, "%s is not busy while another process has its file open", point);
    close(pipes[0]);
    close(pipes[1]);
    MUST(waitpid(child, &status, 0) == child && status == 0, "the other process failed");
    MUST(umount(point) == 0, "umount of %s failed after the other process closed its file", point);
    did(worker, 9);
}

static void other_name_space(struct worker *worker, const char *point, const char *file)
{
    struct stat here;
    int status;
    pid_t child = fork();

    MUST(child >= 0, "cannot fork");
    if (!child) {
        if (unshare(CLONE_NEWNS))
            _exit(2);
        /* A copy of this mount and of all others: this one goes alone. */
        if (stat(file, &here) || umount(point) || stat(file, &here) == 0)
            _exit(3);
        if (mount("elsewhere", point, "tmpfs", 0, "size=1m"))
            _exit(4);
        _exit(0);
    }
    MUST(stat(file, &here) == 0, "%s is gone", file);
    MUST(waitpid(child, &status, 0) == child && status == 0, "in another name space step %d failed", WEXITSTATUS(status));
    MUST(stat(file, &here) == 0, "%s is gone after another name space unmounted its own", file);
    MUST(umount(point) == 0, "umount of %s failed after a name space with a copy of it ended", point);
    did(worker, 7);
}

static void move(struct worker *worker, const char *point, const char *file)
{
    char there[64], moved[80];
    struct stat status;

    snprintf(there, sizeof(there), "moved-%u", worker->index);
    snprintf(moved, sizeof(moved), "%s/file", there);
    MUST(mount(point, there, NULL, MS_MOVE, NULL) == 0, "cannot move %s", point);
    MUST(stat(moved, &status) == 0, "%s is not where it was moved to", moved);
    MUST(stat(file, &status) < 0 && errno == ENOENT, "%s is still where it was moved from", file);
    MUST(umount(there) == 0, "umount of %s failed", there);
    did(worker, 4);
}

static void work(struct worker *worker, uint64_t iterations)
{
    char point[32], file[64], there[64];
    struct stat status;

    snprintf(point, sizeof(point), "mount-%u", worker->index);
    snprintf(file, sizeof(file), "%s/file", point);
    snprintf(there, sizeof(there), "moved-%u", worker->index);
    make_folder(point);
    make_folder(there);
    for (uint64_t i = 0; i < iterations; i++) {
        int fd;

        MUST(mount("expiry", point, "tmpfs", 0, "size=1m") == 0, "cannot mount %s", point);
        fd = open(file, O_CREAT | O_RDWR, 0600);
        MUST(fd >= 0 && close(fd) == 0, "cannot make %s", file);
        for (unsigned n = draw(worker, 64); n > 0; n--) {
            MUST(stat(file, &status) == 0, "cannot stat %s", file);
            did(worker, 1);
        }
        did(worker, 3);
        switch (draw(worker, 4)) {
        case 0:
            expire(worker, point, file);
            break;
        case 1:
            close_elsewhere(worker, point, file);
            break;
        case 2:
            other_name_space(worker, point, file);
            break;
        default:
            move(worker, point, file);
        }
    }
}

const struct stress expiry_stress = {.name = "expiry", .setup = look_at_kernel, .work = work};
