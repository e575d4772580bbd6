/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Page faults on pages of 2 MiB: many cores on the same page of one file for the first time, copies of private mappings, mappings
 * of one's own; and no page lost in the end.
 */
#define _GNU_SOURCE
#include "stress.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>

#define SUPERPAGE ((size_t)2 << 20)
#define WORDS (SUPERPAGE / sizeof(uint64_t))
#define ROUND 64 /* iterations with one common file; then it is a new one, whose pages nobody has touched */

static unsigned long pool(const char *name)
{
    char line[128];
    unsigned long value = 0;
    size_t length = strlen(name);
    FILE *file = fopen("/proc/meminfo", "r");
    bool found = false;

    MUST(file, "cannot read /proc/meminfo");
    while (!found && fgets(line, sizeof(line), file))
        if (strncmp(line, name, length) == 0 && line[length] == ':') {
            value = strtoul(line + length + 1, NULL, 10);
            found = true;
        }
    fclose(file);
    MUST(found, "/proc/meminfo has no %s", name);
    return value;
}

static void setup(void)
{
    MUST(tell_kernel("/proc/sys/vm/nr_hugepages", "256"), "cannot reserve pages of 2 MiB");
    MUST(pool("HugePages_Total") >= 64, "the kernel has set aside fewer than 64 pages of 2 MiB");
    MUST(mkdir("huge", 0755) == 0 && mount("none", "huge", "hugetlbfs", 0, NULL) == 0, "cannot mount hugetlbfs");
    errno = 0;
}

static uint64_t *map(int fd, int flags, size_t pages)
{
    void *base = mmap(NULL, pages * SUPERPAGE, PROT_READ | PROT_WRITE, flags, fd, 0);

    MUST(base != MAP_FAILED, "mmap of pages of 2 MiB");
    return base;
}

/* Each worker writes words of its own at once. If two made the page at the same time, one would lose its words. */
static void common_file(struct worker *worker, uint64_t iteration)
{
    char name[64];
    size_t mine = 8 + (size_t)worker->index * 8;
    uint64_t mark = iteration << 16 | worker->index, *shared, *private_;
    int fd;

    snprintf(name, sizeof(name), "huge/common-%lu", iteration / ROUND);
    fd = open(name, O_CREAT | O_RDWR, 0644);
    MUST(fd >= 0, "cannot make %s", name);
    shared = map(fd, MAP_SHARED, 1);
    shared[mine] = mark;
    sched_yield();
    MUST(shared[mine] == mark, "a word of a page of 2 MiB was lost");
    private_ = map(fd, MAP_PRIVATE, 1);
    MUST(private_[mine] == mark, "a private mapping does not show the file");
    if (draw(worker, 32) == 0) { /* a copy of the page: not every time, it is 2 MiB */
        private_[mine] = ~mark;
        MUST(shared[mine] == mark, "a private write went to the file");
    }
    MUST(munmap(private_, SUPERPAGE) == 0 && munmap(shared, SUPERPAGE) == 0 && close(fd) == 0, "munmap or close");
    if (iteration % ROUND == ROUND - 1 && unlink(name) && errno != ENOENT)
        die("cannot remove %s", name);
    errno = 0;
    did(worker, 8);
}

static void own_mapping(struct worker *worker)
{
    uint64_t *base = map(-1, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, 1);

    for (size_t at = 0; at < WORDS; at += 4096 / sizeof(uint64_t))
        MUST(base[at] == 0 && base[at + 511] == 0, "a new page of 2 MiB is not zero");
    memset(base, 0xa5, 4096);
    MUST(munmap(base, SUPERPAGE) == 0, "munmap");
    did(worker, 3);
}

static void work(struct worker *worker, uint64_t iterations)
{
    for (uint64_t i = 0; i < iterations; i++) {
        common_file(worker, i);
        if (draw(worker, 64) == 0)
            own_mapping(worker);
    }
}

static void finish(void)
{
    MUST(umount("huge") == 0, "cannot unmount hugetlbfs");
    MUST(pool("HugePages_Free") == pool("HugePages_Total"), "pages of 2 MiB were lost");
    MUST(pool("HugePages_Rsvd") == 0, "pages of 2 MiB are still reserved");
}

const struct stress superpages_stress = {.name = "superpages", .setup = setup, .work = work, .finish = finish};
