/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pages of files mapped, changed, cut off and read back by many while caches are dropped.
 */
#define _GNU_SOURCE
#include "stress.h"

#include <fcntl.h>

#define PAGE 4096
#define PAGES 64

static int file;

static void setup(void)
{
    file = open("pages", O_CREAT | O_RDWR, 0644);
    MUST(file >= 0 && ftruncate(file, PAGES * PAGE) == 0, "cannot make the file");
}

/* Each worker has a word in every page of the common file that only it writes. */
static void common(struct worker *worker, uint64_t iteration)
{
    uint64_t *base = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    size_t at = (size_t)draw(worker, PAGES) * (PAGE / sizeof(uint64_t)) + worker->index;
    uint64_t read_back = 0;

    MUST(base != MAP_FAILED, "mmap");
    base[at] = iteration + 1;
    MUST(pread(file, &read_back, sizeof(read_back), (off_t)(at * sizeof(uint64_t))) == sizeof(read_back) &&
             read_back == iteration + 1,
         "the file does not have what its mapping has");
    MUST(munmap(base, PAGES * PAGE) == 0, "munmap");
    did(worker, 4);
}

/* Memory of one's own that is given back page by page, and a file of one's own that is cut off under its mapping. */
static void own(struct worker *worker, int fd)
{
    size_t bytes = (1 + draw(worker, 32)) * PAGE;
    uint64_t *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *mapped;

    MUST(memory != MAP_FAILED, "mmap");
    for (size_t at = 0; at < bytes / sizeof(uint64_t); at += PAGE / sizeof(uint64_t)) {
        MUST(memory[at] == 0, "a new page is not zero");
        memory[at] = at + 1;
    }
    MUST(madvise(memory, bytes, MADV_DONTNEED) == 0 && memory[0] == 0, "memory that was given back is not zero");
    MUST(munmap(memory, bytes) == 0, "munmap");
    MUST(ftruncate(fd, (off_t)bytes) == 0, "ftruncate");
    mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    MUST(mapped != MAP_FAILED, "mmap");
    mapped[0] = worker->index + 1;
    mapped[bytes / sizeof(uint64_t) - 1] = 77;
    MUST(ftruncate(fd, PAGE / 2) == 0 && ftruncate(fd, (off_t)bytes) == 0, "ftruncate");
    MUST(mapped[0] == worker->index + 1 && mapped[bytes / sizeof(uint64_t) - 1] == 0, "a file that was cut off and grew again");
    MUST(munmap(mapped, bytes) == 0 && ftruncate(fd, 0) == 0, "munmap or ftruncate");
    did(worker, 11);
}

static void work(struct worker *worker, uint64_t iterations)
{
    char name[32];
    int fd;

    snprintf(name, sizeof(name), "own-%u", worker->index);
    fd = open(name, O_CREAT | O_RDWR, 0644);
    MUST(fd >= 0, "cannot make %s", name);
    for (uint64_t i = 0; i < iterations; i++) {
        common(worker, i);
        if (draw(worker, 4) == 0)
            own(worker, fd);
        if (worker->index == 0 && i % 256 == 255)
            MUST(tell_kernel("/proc/sys/vm/drop_caches", "3"), "cannot drop caches");
    }
}

const struct stress pages_stress = {.name = "pages", .setup = setup, .work = work};
