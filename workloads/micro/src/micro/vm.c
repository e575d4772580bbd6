/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One address space changed by all cores; workers are threads, but for those that share the pages of a file.
 */
#define _GNU_SOURCE
#include "micro.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>

#define PAGE_BYTES 4096

/* ---- mmap-munmap: map P_LENGTH pages and unmap them, touched or not ---- */

static size_t map_bytes;
static bool touch;

static void mmap_setup(void)
{
    map_bytes = number_setting("P_LENGTH") * PAGE_BYTES;
    touch = number_setting("P_TOUCH") != 0;
}

static void mmap_work(struct worker *worker, uint64_t iterations)
{
    for (uint64_t i = 0; i < iterations; i++) {
        char *base = mmap(NULL, map_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (base == MAP_FAILED) {
            worker_error(worker, "mmap failed", (long)i);
            continue;
        }
        if (touch)
            for (size_t offset = 0; offset < map_bytes; offset += PAGE_BYTES) {
                volatile uint64_t *word = (volatile uint64_t *)(base + offset);

                word[0] = i; /* write first: a read would map the zero page and make a second fault of the write */
                EXPECT(worker, word[1] == 0, "a new page was not zero", word[1]);
            }
        EXPECT(worker, munmap(base, map_bytes) == 0, "munmap failed", i);
    }
    worker->units += iterations;
}

/* ---- page-fault: each worker touches pages of its own, each for the first time ----
 * The pages of a worker are in page tables of its own (2 MiB apart), so that the locks of page tables are not shared. */

#define TABLE_SPAN ((size_t)2 << 20)

struct region {
    char *base;
    uint64_t touched;
};

static void fault_prepare(struct worker *worker)
{
    struct region *region = memory(sizeof(*region), -1, PAGES_SMALL, NULL);
    size_t bytes = (run.warmup + run.iterations) * PAGE_BYTES;
    size_t room = (bytes + 2 * TABLE_SPAN - 1) & ~(TABLE_SPAN - 1);
    char *base = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (base == MAP_FAILED)
        die("no memory for %zu bytes", room);
    madvise(base, room, MADV_NOHUGEPAGE); /* a kernel without transparent huge pages refuses: just as well */
    region->base = (char *)(((uintptr_t)base + TABLE_SPAN - 1) & ~(TABLE_SPAN - 1));
    worker->state = region;
}

static void fault_work(struct worker *worker, uint64_t iterations)
{
    struct region *region = worker->state;

    for (uint64_t i = 0; i < iterations; i++) {
        volatile uint64_t *word = (volatile uint64_t *)(region->base + region->touched++ * PAGE_BYTES);

        word[0] = i + 1; /* write first, as above */
        EXPECT(worker, word[1] == 0, "a new page was not zero", word[1]);
    }
    worker->units += iterations;
}

/* ---- superpage-fault: each worker touches pages of 2 MiB, each for the first time, in one mapping or in a mapping of its own
 * ---- After each fault it reads its working set again, if it has one: what zeroing the page has pushed out of the caches is
 * fetched anew. */

#define SUPERPAGE ((size_t)2 << 20)

struct superpages {
    char *base;
    const char *working_set;
    uint64_t touched;
};

static size_t working_set_bytes;
static bool one_mapping;
static char *common_superpages;

static char *map_superpages(uint64_t count)
{
    char *base = mmap(NULL, count * SUPERPAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);

    if (base == MAP_FAILED)
        die("no %lu pages of 2 MiB", count);
    return base;
}

static void superpage_setup(void)
{
    working_set_bytes = number_setting("P_WORKING_SET");
    one_mapping = strcmp(text_setting("P_MAPPING"), "one") == 0;
    if (one_mapping)
        common_superpages = map_superpages(run.workers * (run.warmup + run.iterations));
}

static void superpage_prepare(struct worker *worker)
{
    struct superpages *state = memory(sizeof(*state), -1, PAGES_SMALL, NULL);
    uint64_t pages = run.warmup + run.iterations;

    state->base = one_mapping ? common_superpages + worker->index * pages * SUPERPAGE : map_superpages(pages);
    if (working_set_bytes)
        state->working_set = memory(working_set_bytes, -1, PAGES_SMALL, NULL);
    worker->state = state;
}

static void superpage_work(struct worker *worker, uint64_t iterations)
{
    struct superpages *state = worker->state;

    for (uint64_t i = 0; i < iterations; i++) {
        volatile uint64_t *word = (volatile uint64_t *)(state->base + state->touched++ * SUPERPAGE);
        uint64_t sum = 0;

        word[0] = i + 1; /* write first, as above */
        EXPECT(worker, word[1] == 0 && word[SUPERPAGE / 16] == 0 && word[SUPERPAGE / 8 - 1] == 0, "a new page was not zero", i);
        for (size_t at = 0; at < working_set_bytes; at += LINE_BYTES)
            sum += *(const volatile uint64_t *)(state->working_set + at);
        EXPECT(worker, sum == 0, "the working set changed", sum);
    }
    worker->units += iterations;
}

/* ---- superpage-map: each worker maps a file of pages of 2 MiB that are there already, touches them and unmaps it ----
 * Faults without zeroing: what is left is finding the page and entering it. Workers are processes, so that they share no address
 * space; one file for all, or one for each. */

static void superpage_map_setup(void)
{
    map_bytes = number_setting("P_LENGTH") * SUPERPAGE;
    one_mapping = strcmp(text_setting("P_MAPPING"), "one") == 0;
    if (mkdir("huge", 0755) || mount("none", "huge", "hugetlbfs", 0, NULL))
        die("cannot mount hugetlbfs");
}

static volatile uint64_t *map_file(int fd)
{
    void *base = mmap(NULL, map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    return base == MAP_FAILED ? NULL : base;
}

static void superpage_map_prepare(struct worker *worker)
{
    char name[64];
    volatile uint64_t *base;
    int *fd = memory(sizeof(*fd), -1, PAGES_SMALL, NULL);

    snprintf(name, sizeof(name), one_mapping ? "huge/common" : "huge/own-%u", worker->index);
    *fd = open(name, O_CREAT | O_RDWR, 0644);
    if (*fd < 0 || !(base = map_file(*fd)))
        die("cannot map %s, a file of %zu pages of 2 MiB", name, map_bytes / SUPERPAGE);
    for (size_t at = 0; at < map_bytes / sizeof(uint64_t); at += SUPERPAGE / sizeof(uint64_t))
        base[at] = at + 1;
    munmap((void *)(uintptr_t)base, map_bytes);
    worker->state = fd;
}

static void superpage_map_work(struct worker *worker, uint64_t iterations)
{
    const int *fd = worker->state;

    for (uint64_t i = 0; i < iterations; i++) {
        const volatile uint64_t *base = map_file(*fd);

        if (!base) {
            worker_error(worker, "mmap failed", (long)i);
            continue;
        }
        for (size_t at = 0; at < map_bytes / sizeof(uint64_t); at += SUPERPAGE / sizeof(uint64_t))
            EXPECT(worker, base[at] == at + 1, "a page of the file has other content", base[at]);
        EXPECT(worker, munmap((void *)(uintptr_t)base, map_bytes) == 0, "munmap failed", i);
    }
    worker->units += iterations * (map_bytes / SUPERPAGE);
}

/* ---- shared-file-fault: each worker maps one file and touches its pages ----
 * Workers are processes, so what they share is the pages of the file, and the kernel's records of these pages. */

static int shared_file;

static void shared_file_setup(void)
{
    static const char name[] = "shared-file";
    uint64_t page[PAGE_BYTES / sizeof(uint64_t)];

    map_bytes = number_setting("P_LENGTH") * PAGE_BYTES;
    shared_file = open(name, O_CREAT | O_TRUNC | O_RDWR, 0644);
    if (shared_file < 0)
        die("cannot make the file %s", name);
    for (size_t offset = 0; offset < map_bytes; offset += PAGE_BYTES) {
        for (size_t i = 0; i < sizeof(page) / sizeof(page[0]); i++)
            page[i] = offset + i;
        if (write(shared_file, page, sizeof(page)) != sizeof(page))
            die("cannot write the file %s", name);
    }
}

static void shared_file_work(struct worker *worker, uint64_t iterations)
{
    for (uint64_t i = 0; i < iterations; i++) {
        const char *base = mmap(NULL, map_bytes, PROT_READ, MAP_SHARED, shared_file, 0);

        if (base == MAP_FAILED) {
            worker_error(worker, "mmap failed", (long)i);
            continue;
        }
        for (size_t offset = 0; offset < map_bytes; offset += PAGE_BYTES) {
            const volatile uint64_t *word = (const volatile uint64_t *)(base + offset);

            EXPECT(worker, word[1] == offset + 1, "a page of the file has other content", word[1]);
        }
        EXPECT(worker, munmap((void *)(uintptr_t)base, map_bytes) == 0, "munmap failed", i);
    }
    worker->units += iterations * (map_bytes / PAGE_BYTES);
}

/* ---- shared-file-read: each worker reads a word of each page of one file, the program itself ----
 * A read takes and drops a reference to the page and looks at its flags in between. It does not lock the page, as a fault does,
 * and as reading a file on a tmpfs does in old kernels: the program is on the disk's file system. */

struct reader {
    int fd;
    uint64_t *words; /* what is to be read, one per page */
};

static uint64_t read_word(const struct reader *reader, size_t page)
{
    uint64_t word = 0;

    if (pread(reader->fd, &word, sizeof(word), (off_t)(page * PAGE_BYTES)) != sizeof(word))
        return ~reader->words[page];
    return word;
}

static void shared_read_setup(void)
{
    struct stat status;

    map_bytes = number_setting("P_LENGTH") * PAGE_BYTES;
    if (stat("/proc/self/exe", &status) || (size_t)status.st_size < map_bytes)
        die("the file to read is this program, which has less than %zu pages", map_bytes / PAGE_BYTES);
}

static void shared_read_prepare(struct worker *worker)
{
    size_t pages = map_bytes / PAGE_BYTES;
    struct reader *reader = memory(sizeof(*reader) + pages * sizeof(uint64_t), -1, PAGES_SMALL, NULL);
    const void *file;

    reader->words = (uint64_t *)(reader + 1);
    reader->fd = open("/proc/self/exe", O_RDONLY);
    file = mmap(NULL, map_bytes, PROT_READ, MAP_PRIVATE, reader->fd, 0);
    if (file == MAP_FAILED)
        die("cannot map the program");
    for (size_t page = 0; page < pages; page++)
        reader->words[page] = *(const uint64_t *)((const char *)file + page * PAGE_BYTES);
    munmap((void *)(uintptr_t)file, map_bytes);
    worker->state = reader;
}

static void shared_read_work(struct worker *worker, uint64_t iterations)
{
    const struct reader *reader = worker->state;
    const size_t pages = map_bytes / PAGE_BYTES;

    for (uint64_t i = 0; i < iterations; i++)
        for (size_t page = 0; page < pages; page++) {
            uint64_t word = read_word(reader, page);

            EXPECT(worker, word == reader->words[page], "a page of the file has other content", word);
        }
    worker->units += iterations * pages;
}

const struct benchmark vm_benchmarks[] = {
    {
        .name = "mmap-munmap",
        .unit = "mappings",
        .setup = mmap_setup,
        .work = mmap_work,
    },
    {
        .name = "page-fault",
        .unit = "pages",
        .prepare = fault_prepare,
        .work = fault_work,
    },
    {
        .name = "superpage-fault",
        .unit = "pages",
        .setup = superpage_setup,
        .prepare = superpage_prepare,
        .work = superpage_work,
    },
    {
        .name = "superpage-map",
        .unit = "pages",
        .processes = true,
        .setup = superpage_map_setup,
        .prepare = superpage_map_prepare,
        .work = superpage_map_work,
    },
    {
        .name = "shared-file-fault",
        .unit = "pages",
        .processes = true,
        .setup = shared_file_setup,
        .work = shared_file_work,
    },
    {
        .name = "shared-file-read",
        .unit = "reads",
        .processes = true,
        .setup = shared_read_setup,
        .prepare = shared_read_prepare,
        .work = shared_read_work,
    },
    {.name = NULL},
};
