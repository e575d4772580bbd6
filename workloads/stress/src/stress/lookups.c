/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Looking names up while others rename, remove and make them. File k only ever has names that begin with its number, so whatever
 * a name leads to must be that file.
 */
#define _GNU_SOURCE
#include "stress.h"

#include <fcntl.h>
#include <sys/stat.h>

#define FILES 16
#define NAMES 4
#define FOLDERS 3

/* Names inside a dentry, one that is too long for that, and one in another folder. */
static void name_of(char *path, size_t room, unsigned file, unsigned name)
{
    static const char *const forms[NAMES] = {"a/%u-x", "a/%u-y", "b/%u-a-name-that-is-too-long-to-be-inside-a-dentry-itself",
                                             "c/%u"};

    snprintf(path, room, forms[name], file);
}

static void setup(void)
{
    char path[128];

    MUST(mkdir("a", 0755) == 0 && mkdir("b", 0755) == 0 && mkdir("c", 0755) == 0, "mkdir");
    for (unsigned file = 0; file < FILES; file++) {
        int fd;

        name_of(path, sizeof(path), file, 0);
        fd = open(path, O_CREAT | O_WRONLY, 0644);
        MUST(fd >= 0 && ftruncate(fd, file + 1) == 0 && close(fd) == 0, "cannot make %s", path);
    }
}

static void look(struct worker *worker)
{
    char path[128];
    unsigned file = draw(worker, FILES), name = draw(worker, NAMES);
    struct stat status;
    int fd;

    name_of(path, sizeof(path), file, name);
    if (stat(path, &status) == 0)
        MUST(status.st_size == file + 1, "%s led to file %ld", path, (long)status.st_size - 1);
    else
        MUST(errno == ENOENT, "stat %s", path);
    fd = open(path, O_RDONLY);
    if (fd >= 0) {
        MUST(fstat(fd, &status) == 0 && status.st_size == file + 1, "%s opened file %ld", path, (long)status.st_size - 1);
        MUST(close(fd) == 0, "close");
    } else {
        MUST(errno == ENOENT, "open %s", path);
    }
    errno = 0;
    did(worker, 3);
}

/* Worker k moves files k, k + workers, ...: so it knows which names they have. */
static void move(struct worker *worker, unsigned file, unsigned *now)
{
    char from[128], to[128];
    unsigned next = draw(worker, NAMES);
    struct stat status;

    name_of(from, sizeof(from), file, *now);
    name_of(to, sizeof(to), file, next);
    MUST(rename(from, to) == 0, "rename %s to %s", from, to);
    MUST(stat(to, &status) == 0 && status.st_size == file + 1, "%s is not there after a rename to it", to);
    MUST(next == *now || (stat(from, &status) == -1 && errno == ENOENT), "%s is still there after a rename", from);
    errno = 0;
    *now = next;
    did(worker, 3);
}

/* A folder that comes, is looked into by others, and goes. */
static void come_and_go(struct worker *worker)
{
    char folder[64], path[96];
    struct stat status;
    unsigned which = draw(worker, FOLDERS);

    snprintf(folder, sizeof(folder), "a/folder-%u", which);
    snprintf(path, sizeof(path), "%s/inside-%u", folder, worker->index);
    if (mkdir(folder, 0755) && errno != EEXIST)
        die("mkdir %s", folder);
    if (mkdir(path, 0755) == 0) {
        MUST(stat(path, &status) == 0 && S_ISDIR(status.st_mode), "%s is not there after mkdir", path);
        MUST(rmdir(path) == 0, "rmdir %s", path);
        MUST(stat(path, &status) == -1 && errno == ENOENT, "%s is still there after rmdir", path);
    } else {
        MUST(errno == ENOENT, "mkdir %s", path);
    }
    if (rmdir(folder) && errno != ENOENT && errno != ENOTEMPTY)
        die("rmdir %s", folder);
    errno = 0;
    did(worker, 5);
}

static void work(struct worker *worker, uint64_t iterations)
{
    unsigned now[FILES] = {0};

    for (uint64_t i = 0; i < iterations; i++) {
        for (unsigned n = 0; n < 8; n++)
            look(worker);
        for (unsigned file = worker->index; file < FILES; file += worker->workers)
            move(worker, file, &now[file]);
        if (draw(worker, 4) == 0)
            come_and_go(worker);
        if (worker->index == 0 && i % 512 == 511)
            MUST(tell_kernel("/proc/sys/vm/drop_caches", "2"), "cannot drop caches");
    }
}

const struct stress lookups_stress = {.name = "lookups", .setup = setup, .work = work};
