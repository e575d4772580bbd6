/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The job: map finds the words of a piece of text, reduce brings together what the workers have found for a word.
 */
#define _GNU_SOURCE
#include "metis.h"

#include <ctype.h>
#include <string.h>

#include "corpus.h"
#include "workers.h"

#define MOST_LETTERS 63 /* of a word */
#define FIRST_WORDS 4   /* entries for which a bucket has room at first */
#define FIRST_ROOM 8    /* places in an entry's first block; with each further one there is room for twice as many */
#define MOST_ROOM 254u  /* in any: with its head 2 KiB */

void table_make(struct table *table, struct arena *arena)
{
    table->arena = arena;
    table->buckets = arena_take(arena, BUCKETS * sizeof(struct bucket));
    /* Written before it is read: a page that is read first is the kernel's page of zeros, and the later write flushes the TLBs of
     * all threads. */
    memset(table->buckets, 0, BUCKETS * sizeof(struct bucket));
}

static struct block *new_block(struct arena *arena, uint32_t room)
{
    struct block *block = arena_take(arena, sizeof(*block) + room * sizeof(block->places[0]));

    block->room = room;
    return block;
}

/* A new entry of the bucket, the `at`-th. */
static struct entry *insert(struct bucket *bucket, uint32_t at, const char *word, size_t length, struct arena *arena)
{
    if (bucket->count == bucket->room) {
        uint32_t room = bucket->room ? 2 * bucket->room : FIRST_WORDS;
        struct entry *more = arena_take(arena, room * sizeof(*more));

        if (bucket->count)
            memcpy(more, bucket->entries, bucket->count * sizeof(*more));
        bucket->entries = more;
        bucket->room = room;
    }
    struct entry *entry = &bucket->entries[at];
    char *copy = arena_take(arena, length + 1);

    memmove(entry + 1, entry, (bucket->count++ - at) * sizeof(*entry));
    memcpy(copy, word, length);
    *entry = (struct entry){.word = copy};
    entry->first = entry->last = new_block(arena, FIRST_ROOM);
    return entry;
}

static struct entry *find(struct table *table, const char *word, size_t length, uint32_t hash)
{
    struct bucket *bucket = &table->buckets[hash % BUCKETS];
    uint32_t begin = 0, end = bucket->count;

    while (begin < end) {
        uint32_t middle = (begin + end) / 2;
        int order = strcmp(word, bucket->entries[middle].word);

        if (order == 0)
            return &bucket->entries[middle];
        if (order > 0)
            begin = middle + 1;
        else
            end = middle;
    }
    return insert(bucket, begin, word, length, table->arena);
}

static void add_place(struct table *table, struct entry *entry, const char *place)
{
    struct block *last = entry->last;

    if (last->count == last->room)
        last = entry->last = last->next = new_block(table->arena, entry->count < MOST_ROOM ? entry->count : MOST_ROOM);
    last->places[last->count++] = place;
    entry->count++;
}

uint64_t table_map(struct table *table, const char *text, size_t begin, size_t end)
{
    uint64_t words = 0;

    for (size_t at = begin; at < end;) {
        char word[MOST_LETTERS + 1];
        const char *place = &text[at];
        size_t length = 0;
        uint32_t hash = 2166136261u; /* FNV-1a */

        for (int letter; at < end && length < MOST_LETTERS && isalpha(letter = toupper((unsigned char)text[at])); at++) {
            hash = (hash ^ (uint32_t)letter) * 16777619u;
            word[length++] = (char)letter;
        }
        if (length == 0) {
            at++;
            continue;
        }
        word[length] = '\0';
        hash ^= hash >> 15; /* its upper bits are few for short words */
        add_place(table, find(table, word, length, hash), place);
        words++;
    }
    return words;
}

/* One worker's entries of a bucket that are not in the index yet. */
struct rest {
    const struct entry *at, *end;
};

/* The first in order of the words at which the workers are; NULL when all are at the end. */
static const char *least(const struct rest *rests, unsigned workers)
{
    const char *found = NULL;

    for (unsigned w = 0; w < workers; w++)
        if (rests[w].at < rests[w].end && (!found || strcmp(rests[w].at->word, found) < 0))
            found = rests[w].at->word;
    return found;
}

static const char **copy_places(const struct entry *entry, const char **out)
{
    for (const struct block *block = entry->first; block; block = block->next) {
        memcpy(out, block->places, block->count * sizeof(block->places[0]));
        out += block->count;
    }
    return out;
}

void reduce_bucket(const struct table *tables, unsigned workers, unsigned bucket, struct arena *arena, struct part *part)
{
    struct rest rests[MAX_WORKERS];
    struct posting_list **link = &part->lists;

    for (unsigned w = 0; w < workers; w++) {
        const struct bucket *found = &tables[w].buckets[bucket];

        rests[w] = (struct rest){found->entries, found->entries + found->count};
    }
    for (const char *word; (word = least(rests, workers));) {
        bool has[MAX_WORKERS];
        uint32_t count = 0;

        for (unsigned w = 0; w < workers; w++) {
            has[w] = rests[w].at < rests[w].end && strcmp(rests[w].at->word, word) == 0;
            count += has[w] ? rests[w].at->count : 0;
        }
        struct posting_list *list = arena_take(arena, sizeof(*list) + count * sizeof(list->places[0]));
        const char **out = list->places;

        list->word = word;
        list->count = count;
        for (unsigned w = 0; w < workers; w++)
            if (has[w])
                out = copy_places(rests[w].at++, out);
        *link = list;
        link = &list->next;
    }
    *link = NULL;
}

struct index_sums index_sums(const struct part *parts, const char *text)
{
    struct index_sums sums = {.ordered = true};

    for (unsigned p = 0; p < BUCKETS; p++) {
        for (const struct posting_list *list = parts[p].lists; list; list = list->next) {
            unsigned length = (unsigned)strlen(list->word);

            if (list->next && strcmp(list->word, list->next->word) >= 0)
                sums.ordered = false;
            for (uint32_t i = 0; i < list->count; i++)
                sums.all.sum += corpus_occurrence(list->word, length, 0, (uint32_t)(list->places[i] - text));
            sums.all.words += list->count;
            sums.different++;
        }
    }
    return sums;
}
