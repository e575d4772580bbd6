/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Phase 1: words of files into a hash table of fixed size, and from it sorted runs.
 *
 * A run is a file of records in alphabetical order: length of the word (16 bits), the word, number of positions (32 bits), and
 * the positions.
 */
#define _GNU_SOURCE
#include "pedsort.h"
#include "workers.h"

#define BUCKETS 8192
#define BLOCK 6 /* positions in a block: with its head 56 bytes */

struct block {
    struct block *next;
    struct position positions[BLOCK];
};

struct entry {
    struct entry *next; /* in the bucket */
    struct block *first, *last;
    uint32_t hash, count;
    uint16_t length;
    char word[];
};

struct table {
    struct entry *buckets[BUCKETS];
    char *memory, *next, *end;
    struct entry **sorted; /* room for all entries that the memory can hold */
    uint32_t words;        /* different ones */
    unsigned runs;
    const char *folder;
};

/* The least memory that an entry takes. */
#define ENTRY_BYTES (sizeof(struct entry) + sizeof(struct block))

struct table *table_make(void)
{
    struct table *table = calloc(1, sizeof(*table));
    size_t sorted_bytes = settings.table_bytes / ENTRY_BYTES * sizeof(struct entry *);

    if (!table || !(table->memory = malloc(settings.table_bytes)) || !(table->sorted = malloc(sorted_bytes)))
        die("no memory for a table of %zu bytes", settings.table_bytes);
    memset(table->memory, 0, settings.table_bytes);
    memset(table->sorted, 0, sorted_bytes);
    table->end = table->memory + settings.table_bytes;
    return table;
}

static void forget_words(struct table *table)
{
    memset(table->buckets, 0, sizeof(table->buckets));
    table->next = table->memory;
    table->words = 0;
}

void table_begin(struct table *table, const char *folder)
{
    forget_words(table);
    table->folder = folder;
    table->runs = 0;
}

static int compare_entries(const void *a, const void *b)
{
    return strcmp((*(const struct entry *const *)a)->word, (*(const struct entry *const *)b)->word);
}

static void write_record(FILE *run, const struct entry *entry)
{
    fwrite(&entry->length, sizeof(entry->length), 1, run);
    fwrite(entry->word, entry->length, 1, run);
    fwrite(&entry->count, sizeof(entry->count), 1, run);
    uint32_t left = entry->count;

    for (const struct block *block = entry->first; left > 0; block = block->next) {
        uint32_t here = left < BLOCK ? left : BLOCK;

        fwrite(block->positions, sizeof(struct position), here, run);
        left -= here;
    }
}

static void flush(struct table *table)
{
    char path[300];
    uint32_t count = 0;

    for (unsigned b = 0; b < BUCKETS; b++)
        for (struct entry *entry = table->buckets[b]; entry; entry = entry->next)
            table->sorted[count++] = entry;
    qsort(table->sorted, count, sizeof(struct entry *), compare_entries);
    snprintf(path, sizeof(path), "%s/run-%u", table->folder, table->runs++);
    FILE *run = fopen(path, "w");

    if (!run)
        die("cannot write %s", path);
    for (uint32_t i = 0; i < count; i++)
        write_record(run, table->sorted[i]);
    if (ferror(run) | fclose(run))
        die("cannot write %s", path);
    forget_words(table);
}

static void *take(struct table *table, size_t bytes)
{
    bytes = (bytes + 7) & ~(size_t)7;
    void *taken = table->next;

    table->next += bytes;
    return taken;
}

static struct entry *find(struct table *table, const char *word, unsigned length, uint32_t hash)
{
    struct entry **bucket = &table->buckets[hash % BUCKETS];

    for (struct entry *entry = *bucket; entry; entry = entry->next)
        if (entry->hash == hash && entry->length == length && memcmp(entry->word, word, length) == 0)
            return entry;
    struct entry *made = take(table, sizeof(*made) + length + 1);

    *made = (struct entry){.next = *bucket, .hash = hash, .length = (uint16_t)length};
    memcpy(made->word, word, length);
    made->word[length] = '\0';
    table->words++;
    return *bucket = made;
}

static void add(struct table *table, const char *word, unsigned length, struct position position)
{
    uint32_t hash = 5381;

    /* Room for all that one word may take. */
    if ((size_t)(table->end - table->next) < sizeof(struct entry) + WORD_ROOM + sizeof(struct block) + 16)
        flush(table);
    for (unsigned i = 0; i < length; i++)
        hash = hash * 33 ^ (unsigned char)word[i];
    struct entry *entry = find(table, word, length, hash);
    unsigned at = entry->count % BLOCK;

    if (at == 0) {
        struct block *block = take(table, sizeof(*block));

        block->next = NULL;
        if (entry->last)
            entry->last->next = block;
        else
            entry->first = block;
        entry->last = block;
    }
    entry->last->positions[at] = position;
    entry->count++;
}

uint64_t table_read(struct table *table, const char *path, uint32_t document)
{
    char word[WORD_ROOM];
    uint64_t words = 0;
    uint32_t offset = 0;
    unsigned length = 0;
    FILE *file = fopen(path, "rm"); /* m: the C library maps the file instead of reading it */

    if (!file)
        die("cannot read %s", path);
    for (int c; (c = getc(file)) != EOF; offset++) {
        if (c >= 'a' && c <= 'z') {
            if (length < WORD_ROOM)
                word[length++] = (char)c;
        } else if (length > 0) {
            add(table, word, length, (struct position){document, offset - length});
            words++;
            length = 0;
        }
    }
    if (length > 0) {
        add(table, word, length, (struct position){document, offset - length});
        words++;
    }
    if (ferror(file) | fclose(file))
        die("cannot read %s", path);
    return words;
}

unsigned table_end(struct table *table)
{
    if (table->words > 0)
        flush(table);
    return table->runs;
}
