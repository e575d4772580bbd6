/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Phase 1: words of files into a hash table of fixed size, and from it sorted runs.
 *
 * A table is four parts of the same size, as psearchy's: words, positions, buckets, and blocks of pointers to the positions of a
 * word. A block has room for 128, and each word has at least one, so blocks are used up first, and the sort is of many more
 * buckets than are in use.
 *
 * A run is a file of records in alphabetical order: the word and a NUL, number of positions (32 bits), and the positions.
 */
#define _GNU_SOURCE
#include "pedsort.h"
#include "workers.h"

#include <ctype.h>

#define PARTS 4
#define BLOCK 128

struct block {
    struct block *next;
    uint32_t count;
    struct position *positions[BLOCK];
};

struct bucket {
    char *word; /* NULL: it is free */
    struct block *first, *last;
    uint32_t count;
};

struct table {
    char *words;
    struct position *positions;
    struct bucket *buckets;
    struct block *blocks;
    size_t words_room, positions_room, blocks_room; /* bytes, items, items */
    size_t words_used, positions_used, blocks_used;
    uint32_t size; /* buckets, a prime number */
    unsigned runs;
    const char *folder;
};

static bool is_prime(uint32_t number)
{
    for (uint32_t divisor = 2; (uint64_t)divisor * divisor <= number; divisor++)
        if (number % divisor == 0)
            return false;
    return number > 1;
}

/* All of it is touched. */
static void *make_part(size_t bytes)
{
    void *part = malloc(bytes);

    if (!part)
        die("no memory for a quarter of a table, %zu bytes", bytes);
    return memset(part, 0, bytes);
}

struct table *table_make(void)
{
    struct table *table = make_part(sizeof(*table));
    size_t part = settings.table_bytes / PARTS;

    table->words_room = part;
    table->positions_room = part / sizeof(struct position);
    table->blocks_room = part / sizeof(struct block);
    table->size = (uint32_t)(part / sizeof(struct bucket));
    while (!is_prime(table->size))
        table->size++;
    table->words = make_part(table->words_room);
    table->positions = make_part(table->positions_room * sizeof(struct position));
    table->blocks = make_part(table->blocks_room * sizeof(struct block));
    table->buckets = make_part(table->size * sizeof(struct bucket));
    return table;
}

void table_begin(struct table *table, const char *folder)
{
    table->words_used = table->positions_used = table->blocks_used = 0;
    table->folder = folder;
    table->runs = 0;
}

/* Free buckets come last. */
static int compare_buckets(const void *a, const void *b)
{
    const struct bucket *one = a, *other = b;

    if (!one->word || !other->word)
        return !one->word - !other->word;
    return strcmp(one->word, other->word);
}

/* Byte by byte, as psearchy does. */
static void write_record(FILE *run, const struct bucket *bucket)
{
    put_bytes(bucket->word, strlen(bucket->word) + 1, run);
    put_bytes(&bucket->count, sizeof(bucket->count), run);
    for (const struct block *block = bucket->first; block; block = block->next)
        for (uint32_t i = 0; i < block->count; i++)
            put_bytes(block->positions[i], sizeof(struct position), run);
}

static void flush(struct table *table)
{
    char path[300];

    qsort(table->buckets, table->size, sizeof(struct bucket), compare_buckets);
    snprintf(path, sizeof(path), "%s/run-%u", table->folder, table->runs++);
    FILE *run = fopen(path, "w");

    if (!run)
        die("cannot write %s", path);
    for (struct bucket *bucket = table->buckets; bucket < table->buckets + table->size && bucket->word; bucket++) {
        write_record(run, bucket);
        bucket->word = NULL;
    }
    if (ferror(run) | fclose(run))
        die("cannot write %s", path);
    table->words_used = table->positions_used = table->blocks_used = 0;
}

/* Room for one more word, wherever it goes. There are more buckets than blocks. */
static void make_room(struct table *table)
{
    if (table->words_used + WORD_ROOM + 1 > table->words_room || table->positions_used == table->positions_room ||
        table->blocks_used == table->blocks_room)
        flush(table);
}

/* The bucket that has the word, or the free one that is for it: open addressing, by double hashing. */
static struct bucket *find(const struct table *table, const char *word)
{
    uint32_t hash = 0;

    for (const char *letter = word; *letter; letter++)
        hash = hash * 33 + (unsigned char)*letter;
    uint32_t at = hash % table->size, step = 1 + hash % (table->size - 1);

    while (table->buckets[at].word && strcmp(table->buckets[at].word, word) != 0) {
        at += step;
        if (at >= table->size)
            at -= table->size;
    }
    return &table->buckets[at];
}

static struct block *take_block(struct table *table)
{
    struct block *block = &table->blocks[table->blocks_used++];

    block->next = NULL;
    block->count = 0;
    return block;
}

/* Add the word that stands behind those of the table, where it stays if it is new. */
static void add(struct table *table, char *word, unsigned length, struct position position)
{
    struct position *place = &table->positions[table->positions_used++];
    struct bucket *bucket = find(table, word);

    *place = position;
    if (!bucket->word) {
        table->words_used += length + 1;
        *bucket = (struct bucket){.word = word};
        bucket->first = bucket->last = take_block(table);
    } else if (bucket->last->count == BLOCK) {
        bucket->last = bucket->last->next = take_block(table);
    }
    bucket->last->positions[bucket->last->count++] = place;
    bucket->count++;
}

uint64_t table_read(struct table *table, const char *path, uint32_t document)
{
    uint64_t words = 0;
    uint32_t offset = 0;
    FILE *file = fopen(path, "rm"); /* m: the C library maps the file instead of reading it */

    if (!file)
        die("cannot read %s", path);
    for (int c = 0; c != EOF;) {
        unsigned length = 0;

        make_room(table);
        char *word = table->words + table->words_used;

        while ((c = getc(file)) != EOF) {
            offset++;
            if (isalnum(c)) {
                if (length < WORD_ROOM)
                    word[length++] = (char)tolower(c);
            } else if (length > 0) {
                break;
            }
        }
        if (length == 0)
            break;
        word[length] = '\0';
        add(table, word, length, (struct position){.document = document, .offset = offset - length - (c != EOF)});
        words++;
    }
    if (ferror(file) | fclose(file))
        die("cannot read %s", path);
    return words;
}

unsigned table_end(struct table *table)
{
    if (table->positions_used > 0)
        flush(table);
    return table->runs;
}
