/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One small directory tree that all workers change at once. Few names, so that they meet; errors that follow from the others'
 * work (a name is gone, or there already) are fine, all others are not.
 */
#define _GNU_SOURCE
#include "stress.h"

#include <fcntl.h>
#include <sys/stat.h>

#define FOLDERS 3
#define NAMES 5

static void folder_name(char *text, size_t size, unsigned folder)
{
    snprintf(text, size, "tree-%u", folder);
}

static void any_name(struct worker *worker, char *text, size_t size)
{
    unsigned folder = draw(worker, FOLDERS);

    snprintf(text, size, "tree-%u/name-%u", folder, draw(worker, NAMES));
}

static void setup(void)
{
    char text[64];

    for (unsigned i = 0; i < FOLDERS; i++) {
        folder_name(text, sizeof(text), i);
        MUST(mkdir(text, 0755) == 0, "cannot make the folder %s", text);
    }
}

/* Whether a call failed for another reason than another worker's work. */
static bool odd(int result)
{
    return result < 0 && errno != ENOENT && errno != EEXIST && errno != EISDIR && errno != ENOTDIR && errno != ENOTEMPTY &&
           errno != EPERM; /* EPERM: a link to, or the unlinking of, what has become a folder */
}

static void open_and_close(struct worker *worker, const char *name)
{
    char word[16], back[16];
    int length = snprintf(word, sizeof(word), "%u", worker->index);
    struct stat before, after;
    int fd = open(name, draw(worker, 2) ? O_RDWR | O_CREAT : O_RDWR, 0644);

    did(worker, 1);
    MUST(!odd(fd), "open of %s failed", name);
    if (fd < 0)
        return;
    /* The descriptor stays the same file whatever becomes of its name. */
    MUST(fstat(fd, &before) == 0, "fstat of %s failed", name);
    MUST(pwrite(fd, word, (size_t)length, 32 * worker->index) == length, "write to %s failed", name);
    MUST(pread(fd, back, sizeof(back), 32 * worker->index) >= length, "read of %s failed", name);
    errno = 0;
    MUST(memcmp(word, back, (size_t)length) == 0, "%s has other bytes than were written", name);
    MUST(fstat(fd, &after) == 0, "fstat of %s failed", name);
    errno = 0;
    MUST(before.st_ino == after.st_ino, "the descriptor of %s changed its file", name);
    MUST(close(fd) == 0, "close of %s failed", name);
    did(worker, 5);
}

static void own_name(struct worker *worker)
{
    char name[64], moved[64];
    struct stat status;
    int fd;

    /* A name that nobody else uses must be there after it was made and gone after it was removed. */
    snprintf(name, sizeof(name), "tree-%u/own-%u", draw(worker, FOLDERS), worker->index);
    snprintf(moved, sizeof(moved), "tree-%u/moved-%u", draw(worker, FOLDERS), worker->index);
    fd = open(name, O_CREAT | O_EXCL | O_WRONLY, 0600);
    MUST(fd >= 0 && close(fd) == 0, "cannot make %s", name);
    MUST(stat(name, &status) == 0, "%s is gone after it was made", name);
    MUST(rename(name, moved) == 0, "cannot rename %s", name);
    MUST(stat(name, &status) < 0 && errno == ENOENT, "%s is still there after it was renamed", name);
    MUST(stat(moved, &status) == 0, "%s is not there after a rename", moved);
    MUST(unlink(moved) == 0, "cannot remove %s", moved);
    MUST(stat(moved, &status) < 0 && errno == ENOENT, "%s is still there after it was removed", moved);
    did(worker, 8);
}

static void work(struct worker *worker, uint64_t iterations)
{
    char name[64], other[64];
    struct stat status;

    for (uint64_t i = 0; i < iterations; i++) {
        any_name(worker, name, sizeof(name));
        any_name(worker, other, sizeof(other));
        switch (draw(worker, 10)) {
        case 0:
            MUST(!odd(rename(name, other)) || errno == EINVAL, "rename of %s failed", name);
            break;
        case 1:
            MUST(!odd(link(name, other)), "link of %s failed", name);
            break;
        case 2:
            MUST(!odd(unlink(name)), "unlink of %s failed", name);
            break;
        case 3:
            MUST(!odd(mkdir(name, 0755)), "mkdir of %s failed", name);
            break;
        case 4:
            MUST(!odd(rmdir(name)), "rmdir of %s failed", name);
            break;
        case 5:
            own_name(worker);
            break;
        case 6:
        case 7:
            MUST(!odd(stat(name, &status)), "stat of %s failed", name);
            break;
        default:
            open_and_close(worker, name);
        }
        did(worker, 1);
        if (worker->index == 0 && i % 64 == 63) {
            MUST(tell_kernel("/proc/sys/vm/drop_caches", "2"), "cannot drop caches");
            did(worker, 1);
        }
    }
}

static void finish(void)
{
    char text[64];

    for (unsigned folder = 0; folder < FOLDERS; folder++) {
        for (unsigned name = 0; name < NAMES; name++) {
            snprintf(text, sizeof(text), "tree-%u/name-%u", folder, name);
            MUST(unlink(text) == 0 || rmdir(text) == 0 || errno == ENOENT, "cannot remove %s", text);
        }
        folder_name(text, sizeof(text), folder);
        MUST(rmdir(text) == 0, "%s is not empty after everything was removed", text);
    }
}

const struct stress files_stress = {.name = "files", .setup = setup, .work = work, .finish = finish};
