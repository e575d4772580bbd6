/* SPDX-License-Identifier: BSD-3-Clause
 *
 * lseek: what a position may be, sizes that change meanwhile, and relative seeks of many through one open file.
 */
#define _GNU_SOURCE
#include "stress.h"

#include <fcntl.h>

#define STEP 7           /* the changing file's size is a multiple of it at every moment */
#define START (1L << 30) /* position of the common open file: far from 0, so that nobody's steps are refused */
#define OWN_BYTES 10007

static int common, changing;

static void setup(void)
{
    common = open("common", O_CREAT | O_RDWR, 0644);
    changing = open("changing", O_CREAT | O_RDWR, 0644);
    if (common < 0 || changing < 0 || lseek(common, START, SEEK_SET) != START)
        die("cannot make the files");
}

/* Refused positions leave the position as it was. */
static void own_file(struct worker *worker, int fd)
{
    off_t at = draw(worker, 1 << 20), step = (off_t)draw(worker, 1 << 10);

    MUST(lseek(fd, at, SEEK_SET) == at, "SEEK_SET");
    MUST(lseek(fd, 0, SEEK_CUR) == at, "SEEK_CUR by nothing");
    MUST(lseek(fd, step, SEEK_CUR) == at + step, "SEEK_CUR");
    MUST(lseek(fd, -at - step - 1, SEEK_CUR) == -1 && errno == EINVAL, "a position before the file was not refused");
    MUST(lseek(fd, 0, SEEK_CUR) == at + step, "a refused seek moved");
    MUST(lseek(fd, 0, SEEK_END) == OWN_BYTES, "SEEK_END");
    MUST(lseek(fd, -OWN_BYTES, SEEK_END) == 0, "SEEK_END to the beginning");
    MUST(lseek(fd, -OWN_BYTES - 1, SEEK_END) == -1 && errno == EINVAL, "SEEK_END before the file was not refused");
    MUST(lseek(fd, 0, 77) == -1 && errno == EINVAL, "an origin that does not exist");
    errno = 0;
    did(worker, 9);
}

static void work(struct worker *worker, uint64_t iterations)
{
    char name[32];
    int fd, reader;

    snprintf(name, sizeof(name), "own-%u", worker->index);
    fd = open(name, O_CREAT | O_RDWR, 0644);
    reader = open("changing", O_RDONLY);
    MUST(fd >= 0 && reader >= 0 && ftruncate(fd, OWN_BYTES) == 0, "cannot make %s", name);
    for (uint64_t i = 0; i < iterations; i++) {
        unsigned by = 1 + draw(worker, 1000);
        off_t end;

        own_file(worker, fd);
        MUST(lseek(common, by, SEEK_CUR) >= 0 && lseek(common, -(off_t)by, SEEK_CUR) >= 0, "a common relative seek");
        if (draw(worker, 4) == 0)
            MUST(ftruncate(changing, (off_t)draw(worker, 1000) * STEP) == 0, "ftruncate");
        end = lseek(reader, 0, SEEK_END);
        MUST(end >= 0 && end < 1000 * STEP && end % STEP == 0, "SEEK_END is %ld, which the file never had as its size",
             (long)end);
        did(worker, 4);
    }
    close(fd);
    close(reader);
}

static void finish(void)
{
    off_t end = lseek(common, 0, SEEK_CUR);

    MUST(end == START, "relative seeks that cancel out have moved the position by %ld", (long)(end - START));
}

const struct stress seeks_stress = {.name = "seeks", .setup = setup, .work = work, .finish = finish};
