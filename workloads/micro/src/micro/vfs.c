/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Path look-up and open files. Workers are processes, as servers are that scale: they share no file table and no address space,
 * so what they do share is the dentry, the inode, the mount and the super block.
 *
 * Paths are absolute, so each look-up starts at the root and crosses into the tmpfs of the working folder. With path=relative
 * each worker looks a name up in a folder of its own, which leaves the mount and the super block to share.
 */
#define _GNU_SOURCE
#include "micro.h"

#include <fcntl.h>
#include <sys/stat.h>

#define GAPS_OF_BOOT 256
#define FILE_BYTES 4099 /* a prime number of bytes, for stat and lseek to return */

static char shared_path[512];

struct file_state {
    char path[600];
    int fd;
    uint64_t gap;     /* pauses between two calls, to twice as many */
    uint64_t between; /* turns of an empty loop after a file was closed, to twice as many */
    uint64_t random;
};

static void make_file(const char *path)
{
    static const char zeros[FILE_BYTES];
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0644);

    if (fd < 0 || write(fd, zeros, sizeof(zeros)) != sizeof(zeros) || close(fd))
        die("cannot make the file %s", path);
}

/* The kernel's memory for dentries and inodes has gaps from the boot, of which it spread the memory over all nodes. Files are
 * made until these are full, so that the next one's dentry and inode are local to the core that makes it. A system that runs for
 * a while has no such gaps. */
static void fill_gaps_of_boot(void)
{
    for (unsigned i = 0; i < GAPS_OF_BOOT; i++) {
        char path[32];

        snprintf(path, sizeof(path), "filler-%u", i);
        if (mknod(path, S_IFREG | 0644, 0) && errno != EEXIST)
            die("cannot make the file %s", path);
    }
    errno = 0;
}

static void make_shared_file(void)
{
    if (!getcwd(shared_path, sizeof(shared_path) - 16))
        die("no working folder");
    strcat(shared_path, "/file");
    make_file(shared_path);
}

static void one_file_setup(void)
{
    fill_gaps_of_boot();
    make_shared_file();
}

/* The last of `files` files. Their inodes lie one after another in memory, and which of them it is decides whether the fields of
 * its mutex share a cache line. */
static void last_file_setup(void)
{
    fill_gaps_of_boot();
    for (uint64_t i = 1, files = number_setting("P_FILES"); i < files; i++) {
        char path[32];

        snprintf(path, sizeof(path), "spare-%lu", i);
        make_file(path);
    }
    make_shared_file();
}

static struct file_state *new_state(struct worker *worker)
{
    struct file_state *state = memory(sizeof(*state), -1, PAGES_SMALL, NULL);

    worker->state = state;
    strcpy(state->path, shared_path);
    return state;
}

static void one_file_prepare(struct worker *worker)
{
    new_state(worker);
}

/* Own folder and own file of each worker. */
static bool relative_path;

static void own_file_setup(void)
{
    relative_path = text_setting("P_PATH")[0] == 'r';
    if (!getcwd(shared_path, sizeof(shared_path) - 16))
        die("no working folder");
}

static void own_file_prepare(struct worker *worker)
{
    struct file_state *state = new_state(worker);
    size_t end = strlen(state->path);

    snprintf(state->path + end, sizeof(state->path) - end, "/own-%u", worker->index);
    if (mkdir(state->path, 0755) && errno != EEXIST)
        die("cannot make the folder %s", state->path);
    if (relative_path) {
        if (chdir(state->path))
            die("cannot work in the folder %s", state->path);
        strcpy(state->path, "file");
    } else {
        strcat(state->path, "/file");
    }
    make_file(state->path);
}

static void open_close_prepare(struct worker *worker)
{
    struct file_state *state = new_state(worker);

    state->between = number_setting("P_BETWEEN");
    state->random = worker->index + 1;
}

static void open_close_work(struct worker *worker, uint64_t iterations)
{
    struct file_state *state = worker->state;

    for (uint64_t i = 0; i < iterations; i++) {
        int fd = open(state->path, O_RDONLY);

        EXPECT(worker, fd >= 0, "open failed", fd);
        EXPECT(worker, close(fd) == 0, "close failed", fd);
        work_between(state->between, &state->random);
    }
    worker->units += iterations;
}

static void stat_work(struct worker *worker, uint64_t iterations)
{
    const struct file_state *state = worker->state;

    for (uint64_t i = 0; i < iterations; i++) {
        struct stat status;
        int result;

        status.st_size = 0;
        result = stat(state->path, &status);
        EXPECT(worker, result == 0 && status.st_size == FILE_BYTES, "stat failed or returned a wrong size", status.st_size);
    }
    worker->units += iterations;
}

static void lseek_prepare(struct worker *worker)
{
    struct file_state *state = new_state(worker);

    state->fd = open(state->path, O_RDONLY);
    if (state->fd < 0)
        die("cannot open %s", state->path);
    state->gap = number_setting("P_GAP");
    state->random = worker->index + 1;
}

static void lseek_work(struct worker *worker, uint64_t iterations)
{
    struct file_state *state = worker->state;

    for (uint64_t i = 0; i < iterations; i++) {
        off_t position = lseek(state->fd, 0, SEEK_END);
        uint64_t pauses = random_count(state->gap, &state->random);

        EXPECT(worker, position == FILE_BYTES, "lseek failed or returned a wrong position", position);
        while (pauses--)
            relax();
    }
    worker->units += iterations;
}

/* ---- pipe: each worker makes pipes, passes a number through and closes them; no two share one ---- */

static void pipe_work(struct worker *worker, uint64_t iterations)
{
    for (uint64_t i = 0; i < iterations; i++) {
        uint64_t sent = worker->index << 20 | i, received = ~sent;
        int ends[2] = {-1, -1};

        EXPECT(worker, pipe(ends) == 0, "pipe failed", ends[0]);
        EXPECT(worker, write(ends[1], &sent, sizeof(sent)) == sizeof(sent), "write to a pipe failed", ends[1]);
        EXPECT(worker, read(ends[0], &received, sizeof(received)) == sizeof(received) && received == sent,
               "read from a pipe failed or returned another number", received);
        EXPECT(worker, close(ends[0]) == 0 && close(ends[1]) == 0, "close of a pipe failed", ends[0]);
    }
    worker->units += iterations;
}

/* ---- three-takers: one lock, the file table's, taken by three system calls in shares 2 : 3 : 5 ----
 *
 * Workers are threads, which share the table. Each call takes its lock once: fcntl to set a flag of a descriptor, close of a
 * descriptor that is not open, dup2. Each worker has descriptors of its own, and does the ten calls of an iteration in an
 * order of its own, with `pauses` to twice as many pauses between them, so that the lock is nearly always free and its line with
 * another core. Where a pause takes no longer than another instruction that takes more of them.
 */

enum taker { TAKER_FCNTL, TAKER_CLOSE, TAKER_DUP2 };
static const uint8_t taker_calls[10] = {TAKER_FCNTL, TAKER_FCNTL, TAKER_CLOSE, TAKER_CLOSE, TAKER_CLOSE,
                                        TAKER_DUP2,  TAKER_DUP2,  TAKER_DUP2,  TAKER_DUP2,  TAKER_DUP2};
#define NOT_OPEN 1000000 /* more than a process may have */

static uint64_t taker_pauses;

struct taker_state {
    uint64_t random;
    int from, to; /* two descriptors */
};

static void taker_setup(void)
{
    taker_pauses = number_setting("P_PAUSES");
    if (taker_pauses == 0)
        die("pauses=0");
}

static void taker_prepare(struct worker *worker)
{
    struct taker_state *state = memory(sizeof(*state), -1, PAGES_SMALL, NULL);
    char path[32];

    worker->state = state;
    state->random = worker->index + 1;
    snprintf(path, sizeof(path), "taken-%u", worker->index);
    state->from = open(path, O_CREAT | O_RDONLY, 0644);
    state->to = dup(state->from);
    if (state->from < 0 || state->to < 0)
        die("cannot open %s", path);
}

static void taker_work(struct worker *worker, uint64_t iterations)
{
    struct taker_state *state = worker->state;

    for (uint64_t i = 0; i < iterations; i++) {
        uint8_t calls[10];

        memcpy(calls, taker_calls, sizeof(calls));
        for (unsigned left = 10; left-- > 0;) {
            unsigned chosen = next_random(&state->random) % (left + 1);
            uint64_t pauses = random_count(taker_pauses, &state->random);
            uint8_t call = calls[chosen];

            calls[chosen] = calls[left];
            while (pauses--)
                relax();
            if (call == TAKER_FCNTL)
                EXPECT(worker, fcntl(state->from, F_SETFD, FD_CLOEXEC) == 0, "fcntl failed", errno);
            else if (call == TAKER_CLOSE)
                EXPECT(worker, close(NOT_OPEN) == -1 && errno == EBADF, "close of no descriptor succeeded", errno);
            else
                EXPECT(worker, dup2(state->from, state->to) == state->to, "dup2 failed", errno);
        }
    }
    worker->units += 10 * iterations;
}

const struct benchmark vfs_benchmarks[] = {
    {
        .name = "open-close",
        .unit = "opens",
        .processes = true,
        .setup = one_file_setup,
        .prepare = open_close_prepare,
        .work = open_close_work,
    },
    {
        .name = "open-close-own",
        .unit = "opens",
        .processes = true,
        .setup = own_file_setup,
        .prepare = own_file_prepare,
        .work = open_close_work,
    },
    {
        .name = "stat-own",
        .unit = "calls",
        .processes = true,
        .setup = own_file_setup,
        .prepare = own_file_prepare,
        .work = stat_work,
    },
    {
        .name = "stat",
        .unit = "calls",
        .processes = true,
        .setup = one_file_setup,
        .prepare = one_file_prepare,
        .work = stat_work,
    },
    {
        .name = "lseek",
        .unit = "calls",
        .processes = true,
        .setup = last_file_setup,
        .prepare = lseek_prepare,
        .work = lseek_work,
    },
    {
        .name = "three-takers",
        .unit = "calls",
        .setup = taker_setup,
        .prepare = taker_prepare,
        .work = taker_work,
    },
    {
        .name = "pipe",
        .unit = "pipes",
        .processes = true,
        .work = pipe_work,
    },
    {.name = NULL},
};
