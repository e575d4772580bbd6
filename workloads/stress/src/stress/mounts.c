/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Worker 0 changes mounts; the others use what lies below them. What must hold: a mount with an open file is busy, an idle one is
 * not; a remount to read-only is refused while a file is open for writing, and writing is refused afterwards.
 */
#define _GNU_SOURCE
#include "stress.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>

#define POINTS 2

static void setup(void)
{
    MUST(mkdir("own", 0755) == 0 && mkdir("bind", 0755) == 0, "cannot make folders");
    for (unsigned i = 0; i < POINTS; i++) {
        char name[32];

        snprintf(name, sizeof(name), "shared-%u", i);
        MUST(mkdir(name, 0755) == 0, "cannot make the folder %s", name);
    }
}

/* A mount that only this worker uses: what umount and remount answer is known. */
static void certain(struct worker *worker)
{
    int fd;

    MUST(mount("own", "own", "tmpfs", 0, "size=1m") == 0, "cannot mount own");
    fd = open("own/file", O_CREAT | O_RDWR, 0600);
    MUST(fd >= 0 && write(fd, "x", 1) == 1, "cannot write own/file");
    MUST(umount("own") < 0 && errno == EBUSY, "umount of a mount with an open file did not say that it is busy");
    MUST(mount("own", "own", "tmpfs", MS_REMOUNT | MS_RDONLY, "") < 0 && errno == EBUSY,
         "a remount to read-only while a file is open for writing was not refused");
    MUST(write(fd, "y", 1) == 1, "writing failed after a remount that was refused");
    MUST(close(fd) == 0, "cannot close own/file");
    MUST(mount("own", "own", "tmpfs", MS_REMOUNT | MS_RDONLY, "") == 0, "a remount to read-only of an idle mount was refused");
    fd = open("own/file", O_RDWR);
    MUST(fd < 0 && errno == EROFS, "a file of a read-only mount opened for writing");
    fd = open("own/file", O_RDONLY);
    MUST(fd >= 0 && close(fd) == 0, "cannot read a file of a read-only mount");
    MUST(mount("own", "own", "tmpfs", MS_REMOUNT, "") == 0, "cannot remount read-write");
    MUST(umount("own") == 0, "umount of an idle mount failed");
    did(worker, 13);
}

/* Mounts that the others use too: busy or not, what was done must be what the call said. */
static void shared(struct worker *worker)
{
    char name[32], file[64];
    struct stat status;
    int fd;

    snprintf(name, sizeof(name), "shared-%u", draw(worker, POINTS));
    snprintf(file, sizeof(file), "%s/file", name);
    MUST(mount("shared", name, "tmpfs", 0, "size=1m") == 0, "cannot mount %s", name);
    fd = open(file, O_CREAT | O_RDWR, 0600);
    MUST(fd >= 0 && close(fd) == 0, "cannot make %s", file);
    did(worker, 3);
    if (draw(worker, 2)) {
        MUST(mount(name, "bind", NULL, MS_BIND, NULL) == 0, "cannot bind %s", name);
        MUST(stat("bind/file", &status) == 0, "the bound folder lacks its file");
        MUST(umount2("bind", MNT_DETACH) == 0, "cannot detach bind");
        did(worker, 3);
    }
    for (unsigned i = 0; i < 16; i++) {
        if (draw(worker, 4) == 0) {
            MUST(mount("shared", name, "tmpfs", MS_REMOUNT | MS_RDONLY, "") == 0 || errno == EBUSY, "remount of %s failed", name);
            MUST(mount("shared", name, "tmpfs", MS_REMOUNT, "") == 0, "cannot make %s writable again", name);
            did(worker, 2);
        }
        did(worker, 1);
        if (umount(name) == 0) {
            MUST(stat(file, &status) < 0 && errno == ENOENT, "%s is still there after its umount", file);
            did(worker, 1);
            return;
        }
        MUST(errno == EBUSY, "umount of %s failed", name);
    }
    MUST(umount2(name, MNT_DETACH) == 0, "cannot detach %s", name);
    MUST(stat(file, &status) < 0 && errno == ENOENT, "%s is still there after it was detached", file);
    did(worker, 2);
}

static void use(struct worker *worker)
{
    char name[64];
    int fd;

    snprintf(name, sizeof(name), "shared-%u/file", draw(worker, POINTS));
    fd = open(name, draw(worker, 3) ? O_RDONLY : O_RDWR);
    did(worker, 1);
    if (fd < 0) {
        MUST(errno == ENOENT || errno == EROFS, "open of %s failed", name);
        return;
    }
    if (draw(worker, 4) == 0) {
        int copy = dup(fd);

        MUST(copy >= 0 && close(copy) == 0, "dup of %s failed", name);
        did(worker, 2);
    }
    MUST(close(fd) == 0, "close of %s failed", name);
    did(worker, 1);
}

static void work(struct worker *worker, uint64_t iterations)
{
    for (uint64_t i = 0; i < iterations; i++) {
        if (worker->index)
            for (unsigned turn = 0; turn < 8; turn++) /* as long as what worker 0 does meanwhile */
                use(worker);
        else if (i % 2)
            certain(worker);
        else
            shared(worker);
    }
}

const struct stress mounts_stress = {.name = "mounts", .setup = setup, .work = work};
