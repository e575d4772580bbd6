/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Latency of each level of the memory hierarchy (pointer chase) and bandwidth of DRAM (stream).
 *
 * A chase follows pointers, one per line, through all lines of a buffer and back to the first. It visits the 64 lines of a page
 * of 4 KiB in random order before it goes to the next page: no stride for a prefetcher to learn, and one TLB miss, whose page
 * table entry shares its line with those of the seven pages after it, in 64 loads.
 */
#define _GNU_SOURCE
#include "micro.h"

#define PAGE_BYTES 4096
#define PAGE_LINES (PAGE_BYTES / LINE_BYTES)
#define LOADS_PER_TURN 256 /* of the loop: two instructions of overhead in 256 loads, 0.3 % where a load takes 3 cycles */

/* `last` points to `line` then; the first line of all is kept, for the last to point to. */
static void **link_after(void *buffer, void **last, void **line)
{
    if (last)
        *last = line;
    else
        ((void ***)buffer)[1] = line;
    return line;
}

/* Link all lines of the buffer into one cycle. The order is the same on every run. */
static void link_lines(void *buffer, size_t bytes, uint64_t seed)
{
    size_t pages = bytes / PAGE_BYTES;
    void **last = NULL;

    for (size_t page = 0; page < pages; page++) {
        uint8_t order[PAGE_LINES];

        for (unsigned i = 0; i < PAGE_LINES; i++)
            order[i] = (uint8_t)i;
        for (unsigned i = PAGE_LINES - 1; i > 0; i--) { /* Fisher and Yates, xorshift64* */
            uint8_t swapped = order[i];
            unsigned with;

            seed ^= seed >> 12;
            seed ^= seed << 25;
            seed ^= seed >> 27;
            with = (unsigned)((seed * 0x2545f4914f6cdd1dULL >> 33) % (i + 1));
            order[i] = order[with];
            order[with] = swapped;
        }
        for (unsigned i = 0; i < PAGE_LINES; i++) {
            void **line = (void **)((char *)buffer + page * PAGE_BYTES + (size_t)order[i] * LINE_BYTES);

            last = link_after(buffer, last, line);
        }
    }
    *last = ((void **)buffer)[1];
}

/* The same, but each line is on the page after that of the line before: a TLB miss in each load where there are more pages than
 * the TLB has entries. */
static void link_across_pages(void *buffer, size_t bytes)
{
    void **last = NULL;

    for (size_t turn = 0; turn < PAGE_LINES; turn++)
        for (size_t page = 0; page < bytes / PAGE_BYTES; page++)
            last =
                link_after(buffer, last, (void **)((char *)buffer + page * PAGE_BYTES + (turn + page) % PAGE_LINES * LINE_BYTES));
    *last = ((void **)buffer)[1];
}

static void *first_line(void *buffer)
{
    return ((void **)buffer)[1];
}

/* `loads` dependent loads, a multiple of LOADS_PER_TURN. Returns where they ended. */
static __attribute__((noinline)) void *chase(void *at, uint64_t loads)
{
    uint64_t turns = loads / LOADS_PER_TURN;

    if (turns)
        __asm__ volatile(".balign 64\n"
                         "1:\n"
                         ".rept 256\n"
                         "mov (%0), %0\n"
                         ".endr\n"
                         "dec %1\n"
                         "jnz 1b"
                         : "+r"(at), "+r"(turns)
                         :
                         : "cc", "memory");
    return at;
}

/* Puts `took` where it belongs among the `count` in front of it, which are in order. */
static void insert(double *sorted, size_t count, double took)
{
    for (; count > 0 && sorted[count - 1] > took; count--)
        sorted[count] = sorted[count - 1];
    sorted[count] = took;
}

/* The same, timed in pieces: `cycles` becomes the median piece's cycles per load. A tick of the kernel's clock, which finds its
 * code and data in no cache, costs more than a percent of a piece; the median is not moved by it. */
#define PIECES 9
static void *timed_chase(void *at, uint64_t loads, double *cycles)
{
    uint64_t turns = loads / LOADS_PER_TURN, pieces = turns < PIECES ? 1 : PIECES;
    double piece[PIECES];

    for (uint64_t i = 0; i < pieces; i++) {
        uint64_t now = (turns * (i + 1) / pieces - turns * i / pieces) * LOADS_PER_TURN;
        uint64_t begin = cycles_now();

        at = chase(at, now);
        insert(piece, i, (double)(cycles_now() - begin) / (double)now);
    }
    *cycles = piece[pieces / 2];
    return at;
}

/* Of a transfer's lines some are gone from their owner's caches before they are asked for, on the way of the thread from there:
 * always those of a few sets. The pieces are so short that most have none of these. */
#define LOADS_PER_PIECE 32
#define TRANSFER_PIECES 72
static void *timed_transfer(void *at, double *cycles)
{
    double piece[TRANSFER_PIECES];

    for (size_t i = 0; i < TRANSFER_PIECES; i++) {
        uint64_t begin = cycles_now();

        __asm__ volatile("jmp 1f\n" /* the fast engine's clock has gone on by the whole of a block */
                         "1:\n"
                         ".rept 32\n"
                         "mov (%0), %0\n"
                         ".endr\n"
                         "jmp 2f\n"
                         "2:"
                         : "+r"(at)
                         :
                         : "memory");
        insert(piece, i, (double)(cycles_now() - begin) / LOADS_PER_PIECE);
    }
    *cycles = piece[TRANSFER_PIECES / 2];
    return at;
}

/* Where `loads` loads from `at` must end, by another way. */
static const void *walk(const void *at, uint64_t loads)
{
    while (loads--)
        at = *(const void *const *)at;
    return at;
}

static uint64_t whole_turns(uint64_t loads)
{
    return (loads + LOADS_PER_TURN - 1) / LOADS_PER_TURN * LOADS_PER_TURN;
}

static size_t buffer_bytes(const char *key)
{
    uint64_t bytes = number_setting(key);

    if (bytes == 0 || bytes % PAGE_BYTES)
        die("%s=%lu is not a whole number of pages of %d bytes", key, bytes, PAGE_BYTES);
    return bytes;
}

static enum pages pages_parameter(void)
{
    const char *text = text_setting("P_PAGES");

    return strcmp(text, "small") == 0 ? PAGES_SMALL : strcmp(text, "huge") == 0 ? PAGES_HUGE : PAGES_AUTO;
}

/* ---- pointer-chase: one core, one buffer on a chosen node ---- */

static size_t chase_bytes;
static int chase_node;
static enum pages chase_pages;
static bool chase_huge;
static double chase_cycles; /* per load, in the median piece */

static void pointer_chase_setup(void)
{
    uint64_t core = number_setting("P_CORE");

    if (core >= run.core_count)
        die("core=%lu is not one of the %u cores", core, run.core_count);
    run.workers = 1;
    run.core_of[0] = (unsigned)core;
    chase_bytes = buffer_bytes("P_BYTES");
    chase_node = (int)signed_setting("P_NODE");
    chase_pages = pages_parameter();
    run.iterations = whole_turns(run.iterations);
    run.warmup = whole_turns(run.warmup);
}

static void pointer_chase_prepare(struct worker *worker)
{
    void *buffer = memory(chase_bytes, chase_node, chase_pages, &chase_huge);

    if (strcmp(text_setting("P_VISIT"), "pages") == 0)
        link_across_pages(buffer, chase_bytes);
    else
        link_lines(buffer, chase_bytes, 88172645463325252ULL);
    worker->slot->line = buffer;
    worker->state = first_line(buffer);
}

static void pointer_chase_work(struct worker *worker, uint64_t iterations)
{
    worker->state = timed_chase(worker->state, iterations, &chase_cycles);
    worker->units += iterations;
    worker->sums[0] = (uint64_t)(uintptr_t)worker->state;
}

static void pointer_chase_finish(void)
{
    void *buffer = (void *)(uintptr_t)run.slots[0].line;

    check("the end of the chase", sum_of(0), (uint64_t)(uintptr_t)walk(first_line(buffer), run.warmup + run.iterations));
    check("lines in the cycle", (uint64_t)(uintptr_t)walk(first_line(buffer), chase_bytes / LINE_BYTES),
          (uint64_t)(uintptr_t)first_line(buffer));
    result_expected("reads", run.iterations);
    result_extra(",\"cycles_per_load\":%.4f,\"pages\":\"%s\"", chase_cycles, chase_huge ? "huge" : "small");
}

/* ---- latencies: chases at every level on the first core of each node, from there to the DRAM of every node, and to lines that
 * the last core of each node has ----
 * One thread goes from core to core, so nothing else runs and nobody spins. Buffers of DRAM are read once in the region, in an
 * order in which each core has passed over the buffers of all the other nodes since it last saw one of them. After those of all
 * cores no cache holds the lines of the transfers: their owner writes them (dirty), or reads them and so has them alone (clean).
 */

enum level { LEVEL_L1, LEVEL_L2, LEVEL_L3, LEVEL_DRAM, LEVEL_DIRTY, LEVEL_CLEAN, LEVELS };
static const char *const level_names[LEVELS] = {"l1", "l2", "l3", "dram", "dirty", "clean"};
#define MAX_NODES 64
#define CACHE_LOADS 65536 /* at least so many loads are timed in a cache, after two laps that are not */
#define TRANSFER_BYTES ((size_t)TRANSFER_PIECES * LOADS_PER_PIECE * LINE_BYTES) /* less than an L2 */
#define TRANSFERS_BYTES ((size_t)2 << 20)                                       /* of several transfers: a huge page */

struct chase_result {
    int cpu, owner; /* owner: the core that has the lines, of a transfer */
    unsigned node;  /* of the memory */
    enum level level;
    void *buffer;
    uint64_t loads; /* timed */
    double cycles;  /* per load, in the median piece of the last lap */
};

static size_t level_bytes[LEVELS];
static unsigned cpu_nodes, memory_nodes[MAX_NODES], memory_node_count;
static int node_cpus[MAX_NODES], owner_cpus[MAX_NODES]; /* the first core of each node and the last */
static unsigned node_of_cpu[MAX_NODES];
static struct chase_result *chases;
static size_t chase_count;

/* Nodes that have memory: a list like 0-3,5. A kernel without NUMA has node 0. */
static void find_memory_nodes(void)
{
    static const char *const lists[] = {"/sys/devices/system/node/has_memory", "/sys/devices/system/node/has_normal_memory",
                                        "/sys/devices/system/node/online"};
    char text[256] = "0", *at = text;

    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        FILE *file = fopen(lists[i], "r");
        bool read = file && fgets(text, sizeof(text), file);

        if (file)
            fclose(file);
        if (read)
            break;
    }
    for (;;) {
        unsigned long from = strtoul(at, &at, 10), to = from;

        if (*at == '-')
            to = strtoul(at + 1, &at, 10);
        for (; from <= to && memory_node_count < MAX_NODES; from++)
            memory_nodes[memory_node_count++] = (unsigned)from;
        if (*at != ',')
            return;
        at++;
    }
}

static void latencies_setup(void)
{
    find_memory_nodes();
    for (unsigned i = 0; i < run.core_count; i++) {
        unsigned node = node_of(run.cores[i]), known = 0;

        while (known < cpu_nodes && node_of_cpu[known] != node)
            known++;
        if (known == cpu_nodes && cpu_nodes < MAX_NODES) {
            node_of_cpu[cpu_nodes] = node;
            node_cpus[cpu_nodes++] = run.cores[i];
        }
        if (known < cpu_nodes)
            owner_cpus[known] = run.cores[i];
    }
    run.workers = 1;
    level_bytes[LEVEL_L1] = buffer_bytes("P_L1_BYTES");
    level_bytes[LEVEL_L2] = buffer_bytes("P_L2_BYTES");
    level_bytes[LEVEL_L3] = buffer_bytes("P_L3_BYTES");
    level_bytes[LEVEL_DRAM] = buffer_bytes("P_BYTES");
    level_bytes[LEVEL_DIRTY] = level_bytes[LEVEL_CLEAN] = TRANSFER_BYTES;
    chase_pages = pages_parameter();
    chases = calloc((size_t)cpu_nodes * (LEVEL_DRAM + memory_node_count + 2 * 3 * cpu_nodes), sizeof(*chases));
    if (!chases)
        die("no memory");
}

/* Links the lines of a chase. That they are one cycle is looked at here: after the region it would take as long as the region
 * does. */
static void *linked_lines(void *buffer, size_t bytes)
{
    link_lines(buffer, bytes, 88172645463325252ULL + chase_count);
    check("lines in a cycle", (uint64_t)(uintptr_t)walk(first_line(buffer), bytes / LINE_BYTES),
          (uint64_t)(uintptr_t)first_line(buffer));
    return buffer;
}

static void add_chase(int cpu, int place, unsigned node, enum level level)
{
    struct chase_result *added = &chases[chase_count];

    *added = (struct chase_result){.cpu = cpu, .node = node, .level = level};
    added->buffer = linked_lines(memory(level_bytes[level], place, chase_pages, &chase_huge), level_bytes[level]);
    chase_count++;
}

/* Lines of one transfer, at home on a node. They lie in one piece, so that no set of the owner's caches gets more of them than it
 * has ways: a line that the owner had to give back is in its L3. */
static void *transfer_lines(unsigned home)
{
    static char *next[MAX_NODES], *end[MAX_NODES];

    if (home >= MAX_NODES)
        die("NUMA node %u is beyond the %d that are supported", home, MAX_NODES);
    if (end[home] - next[home] < (ptrdiff_t)TRANSFER_BYTES) {
        next[home] = memory(TRANSFERS_BYTES, memory_node_count > 1 ? (int)home : -1, chase_pages, &chase_huge);
        end[home] = next[home] + TRANSFERS_BYTES;
    }
    next[home] += TRANSFER_BYTES;
    return linked_lines(next[home] - TRANSFER_BYTES, TRANSFER_BYTES);
}

/* Transfers from the owner of one node to the first core of another, or of the same: of lines at home at either and, for the way
 * over a third, at the node after the owner's. */
static void add_transfers(unsigned to, unsigned from, enum level level)
{
    unsigned third = memory_nodes[0];

    if (owner_cpus[from] == node_cpus[to])
        return; /* one core is all that the node has */
    for (unsigned n = 0; n < memory_node_count; n++)
        if (memory_nodes[n] == node_of_cpu[from])
            third = memory_nodes[(n + 1) % memory_node_count];
    for (unsigned n = 0; n < memory_node_count; n++) {
        unsigned home = memory_nodes[n];
        struct chase_result *added = &chases[chase_count];

        if (home != node_of_cpu[to] && home != node_of_cpu[from] && home != third)
            continue;
        *added = (struct chase_result){.cpu = node_cpus[to], .owner = owner_cpus[from], .node = home, .level = level};
        added->buffer = transfer_lines(home);
        chase_count++;
    }
}

static void latencies_prepare(struct worker *worker)
{
    (void)worker;
    for (unsigned i = 0; i < cpu_nodes; i++) {
        int cpu = node_cpus[i];

        pin(cpu);
        for (enum level level = LEVEL_L1; level < LEVEL_DRAM; level++)
            add_chase(cpu, -1, node_of_cpu[i], level);
        for (unsigned n = 0; n < memory_node_count; n++)
            add_chase(cpu, memory_node_count > 1 ? (int)memory_nodes[n] : -1, memory_nodes[n], LEVEL_DRAM);
    }
    for (unsigned to = 0; to < cpu_nodes; to++)
        for (unsigned from = 0; from < cpu_nodes; from++)
            for (enum level level = LEVEL_DIRTY; level <= LEVEL_CLEAN; level++)
                add_transfers(to, from, level);
    pin(worker->cpu);
}

/* The owner of a transfer's lines takes all of them. */
static void own(const struct chase_result *transfer)
{
    void **at = first_line(transfer->buffer);

    pin(transfer->owner);
    for (size_t line = 0; line < TRANSFER_BYTES / LINE_BYTES; line++) {
        if (transfer->level == LEVEL_DIRTY)
            ((volatile uint64_t *)at)[2] = line;
        at = *(void **volatile *)at;
    }
}

static void latencies_work(struct worker *worker, uint64_t iterations)
{
    int cpu = worker->cpu;

    if (worker->sums[1]++ == 0) { /* the warm-up: the loop's code only */
        chase(first_line(chases[0].buffer), whole_turns(iterations));
        return;
    }
    for (uint64_t lap = 0; lap < iterations; lap++)
        for (size_t i = 0; i < chase_count; i++) {
            struct chase_result *c = &chases[i];
            uint64_t lines = level_bytes[c->level] / LINE_BYTES;
            uint64_t before = c->level >= LEVEL_DRAM ? 0 : whole_turns(2 * lines);
            uint64_t timed = whole_turns(c->level >= LEVEL_DRAM || lines > CACHE_LOADS ? lines : CACHE_LOADS);
            void *at = first_line(c->buffer);

            if (c->level > LEVEL_DRAM) {
                own(c);
                cpu = c->owner;
            }
            if (cpu != c->cpu)
                pin(cpu = c->cpu);
            at = chase(at, before);
            at = c->level > LEVEL_DRAM ? timed_transfer(at, &c->cycles) : timed_chase(at, timed, &c->cycles);
            c->loads += timed;
            worker->units += timed;
            EXPECT(worker, lines % LOADS_PER_TURN || c->level < LEVEL_DRAM || at == first_line(c->buffer),
                   "a lap did not end where it began", i);
        }
    if (cpu != worker->cpu)
        pin(worker->cpu);
}

static void latencies_finish(void)
{
    result_extra(",\"pages\":\"%s\",\"latencies\":[", chase_huge ? "huge" : "small");
    for (size_t i = 0; i < chase_count; i++) {
        const struct chase_result *c = &chases[i];

        result_extra("%s{\"cpu\":%d,\"node\":%u,\"level\":\"%s\",\"loads\":%lu,\"cycles\":%.3f", i ? "," : "", c->cpu, c->node,
                     level_names[c->level], c->loads, c->cycles);
        if (c->level > LEVEL_DRAM)
            result_extra(",\"owner\":%d", c->owner);
        result_extra("}");
    }
    result_extra("]");
}

/* ---- stream: every core passes over a buffer of its own, on its own node or on a chosen one ----
 * An iteration is one block of 64 KiB. As long as warm-up and iterations together do not pass the buffer's end, no line is seen
 * twice. */

#define BLOCK_WORDS ((size_t)(64 << 10) / sizeof(uint64_t))
enum stream_kind { STREAM_READ, STREAM_WRITE, STREAM_COPY };
static enum stream_kind stream_kind;

struct stream {
    uint64_t *from, *to;
    uint64_t blocks_done;
};

static void stream_setup(void)
{
    const char *text = text_setting("P_KIND");

    stream_kind = text[0] == 'r' ? STREAM_READ : text[0] == 'w' ? STREAM_WRITE : STREAM_COPY;
    chase_bytes = buffer_bytes("P_BYTES") / (BLOCK_WORDS * sizeof(uint64_t)) * (BLOCK_WORDS * sizeof(uint64_t));
    if (chase_bytes == 0)
        die("P_BYTES is less than a block of 64 KiB");
    chase_node = (int)signed_setting("P_NODE");
    chase_pages = pages_parameter();
}

static void stream_prepare(struct worker *worker)
{
    struct stream *stream = memory(sizeof(*stream), -1, PAGES_SMALL, NULL);

    stream->from = memory(chase_bytes, chase_node, chase_pages, NULL);
    if (stream_kind == STREAM_COPY)
        stream->to = memory(chase_bytes, chase_node, chase_pages, NULL);
    for (size_t i = 0; i < chase_bytes / sizeof(uint64_t); i++)
        stream->from[i] = i;
    worker->state = stream;
    worker->slot->line = stream;
}

/* Eight words of a line with plain 64-bit instructions, so that a block is the same work under every compiler. */
static uint64_t read_line(const uint64_t *line)
{
    uint64_t sum;

    __asm__ volatile("mov (%1), %0\n add 8(%1), %0\n add 16(%1), %0\n add 24(%1), %0\n"
                     "add 32(%1), %0\n add 40(%1), %0\n add 48(%1), %0\n add 56(%1), %0"
                     : "=&r"(sum)
                     : "r"(line)
                     : "cc", "memory");
    return sum;
}

static void write_line(uint64_t *line, uint64_t value)
{
    __asm__ volatile("mov %0, (%1)\n mov %0, 8(%1)\n mov %0, 16(%1)\n mov %0, 24(%1)\n"
                     "mov %0, 32(%1)\n mov %0, 40(%1)\n mov %0, 48(%1)\n mov %0, 56(%1)"
                     :
                     : "r"(value), "r"(line)
                     : "memory");
}

static void stream_work(struct worker *worker, uint64_t iterations)
{
    struct stream *stream = worker->state;
    size_t words = chase_bytes / sizeof(uint64_t), at = stream->blocks_done * BLOCK_WORDS % words;

    for (uint64_t block = 0; block < iterations; block++) {
        uint64_t sum = 0;

        switch (stream_kind) {
        case STREAM_READ:
            for (size_t i = 0; i < BLOCK_WORDS; i += 8)
                sum += read_line(stream->from + at + i);
            EXPECT(worker, sum == BLOCK_WORDS * at + BLOCK_WORDS * (BLOCK_WORDS - 1) / 2, "wrong sum of a block", sum);
            break;
        case STREAM_WRITE:
            for (size_t i = 0; i < BLOCK_WORDS; i += 8)
                write_line(stream->from + at + i, stream->blocks_done + 1);
            break;
        case STREAM_COPY:
            for (size_t i = 0; i < BLOCK_WORDS; i += 8)
                write_line(stream->to + at + i, read_line(stream->from + at + i));
            break;
        }
        stream->blocks_done++;
        at += BLOCK_WORDS;
        if (at == words)
            at = 0;
    }
    worker->units += iterations * BLOCK_WORDS * sizeof(uint64_t) * (stream_kind == STREAM_COPY ? 2 : 1);
}

/* What the word at `at` of a buffer must hold after `done` blocks. */
static uint64_t stream_expected(size_t at, uint64_t done)
{
    size_t blocks = chase_bytes / sizeof(uint64_t) / BLOCK_WORDS, block = at / BLOCK_WORDS;
    size_t line = at - at % 8;

    if (stream_kind == STREAM_COPY)
        return block < done ? 8 * line + 28 : 0; /* the sum of the eight words of the line read */
    return block < done ? block + (done - 1 - block) / blocks * blocks + 1 : at;
}

static void stream_finish(void)
{
    double bytes_per_cycle = 0;

    for (unsigned w = 0; w < run.workers; w++) {
        const struct stream *stream = run.slots[w].line;
        const uint64_t *result = stream_kind == STREAM_COPY ? stream->to : stream->from;
        uint64_t wrong = 0;

        check("blocks", stream->blocks_done, run.warmup + run.iterations);
        if (stream_kind != STREAM_READ)
            for (size_t i = 0; i < chase_bytes / sizeof(uint64_t); i++)
                wrong += result[i] != stream_expected(i, stream->blocks_done);
        check("wrong words in a buffer", wrong, 0);
        bytes_per_cycle += (double)run.slots[w].units / (double)run.slots[w].cycles;
    }
    result_extra(",\"bytes_per_cycle\":%.4f", bytes_per_cycle);
}

const struct benchmark memory_benchmarks[] = {
    {
        .name = "pointer-chase",
        .unit = "loads",
        .setup = pointer_chase_setup,
        .prepare = pointer_chase_prepare,
        .work = pointer_chase_work,
        .finish = pointer_chase_finish,
    },
    {
        .name = "latencies",
        .unit = "loads",
        .setup = latencies_setup,
        .prepare = latencies_prepare,
        .work = latencies_work,
        .finish = latencies_finish,
    },
    {
        .name = "stream",
        .unit = "bytes",
        .setup = stream_setup,
        .prepare = stream_prepare,
        .work = stream_work,
        .finish = stream_finish,
    },
    {.name = NULL},
};
