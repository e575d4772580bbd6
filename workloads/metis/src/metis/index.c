/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The job: map finds the words of a piece of text, reduce merges what the workers have found for a word.
 */
#define _GNU_SOURCE
#include "metis.h"

#include <stdlib.h>
#include <string.h>

#include "corpus.h"
#include "workers.h"

#define FIRST_ROOM 2    /* positions in an entry's first block */
#define MOST_ROOM 1022u /* in any: with its head a page */

unsigned bucket_bits;

static unsigned bucket_of(uint32_t hash)
{
    return hash >> (32 - bucket_bits);
}

void table_make(struct table *table, struct arena *arena)
{
    table->arena = arena;
    table->buckets = arena_take(arena, bucket_count() * sizeof(struct entry *));
    /* Written before it is read: a page that is read first is the kernel's page of zeros, and the later write flushes the TLBs of
     * all threads. */
    memset(table->buckets, 0, bucket_count() * sizeof(struct entry *));
}

static struct block *new_block(struct arena *arena, uint32_t room)
{
    struct block *block = arena_take(arena, sizeof(*block) + room * sizeof(uint32_t));

    block->room = room;
    return block;
}

static struct entry *find(struct table *table, const char *word, uint32_t length, uint32_t hash)
{
    struct entry **bucket = &table->buckets[bucket_of(hash)];

    for (struct entry *entry = *bucket; entry; entry = entry->next)
        if (entry->hash == hash && entry->length == length && memcmp(entry->word, word, length) == 0)
            return entry;
    struct entry *made = arena_take(table->arena, sizeof(*made));

    *made = (struct entry){.next = *bucket, .word = word, .hash = hash, .length = length};
    made->first = made->last = new_block(table->arena, FIRST_ROOM);
    return *bucket = made;
}

static void add_position(struct table *table, struct entry *entry, uint32_t position)
{
    struct block *last = entry->last;

    if (last->count == last->room) {
        uint32_t room = 2 * last->room + 2;

        last = entry->last = last->next = new_block(table->arena, room < MOST_ROOM ? room : MOST_ROOM);
    }
    last->positions[last->count++] = position;
    entry->count++;
}

static bool is_letter(char c)
{
    return (unsigned char)(c - 'a') < 26;
}

uint64_t table_map(struct table *table, const char *text, size_t begin, size_t end)
{
    uint64_t words = 0;

    for (size_t i = begin; i < end;) {
        if (!is_letter(text[i])) {
            i++;
            continue;
        }
        size_t start = i;
        uint32_t hash = 2166136261u; /* FNV-1a */

        for (; i < end && is_letter(text[i]); i++)
            hash = (hash ^ (unsigned char)text[i]) * 16777619u;
        hash ^= hash >> 15; /* its upper bits are few for short words */
        hash *= 0x9e3779b1u;
        add_position(table, find(table, text + start, (uint32_t)(i - start), hash), (uint32_t)start);
        words++;
    }
    return words;
}

static int compare_words(const struct entry *a, const struct entry *b)
{
    if (a->hash != b->hash)
        return a->hash < b->hash ? -1 : 1;
    if (a->length != b->length)
        return a->length < b->length ? -1 : 1;
    return memcmp(a->word, b->word, a->length);
}

static int compare_entries(const void *a, const void *b)
{
    return compare_words(*(const struct entry *const *)a, *(const struct entry *const *)b);
}

/* What is left of one worker's positions of a word. */
struct run {
    const struct block *block;
    uint32_t at;
};

static uint32_t head(const struct run *run)
{
    return run->block->positions[run->at];
}

static void sift_down(struct run *runs, unsigned count, unsigned at)
{
    struct run moved = runs[at];

    for (unsigned child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && head(&runs[child + 1]) < head(&runs[child]))
            child++;
        if (head(&moved) <= head(&runs[child]))
            break;
        runs[at] = runs[child];
    }
    runs[at] = moved;
}

/* Copy positions of the run below `limit`; false when the run is at its end. */
static bool copy_below(struct run *run, uint64_t limit, uint32_t **out)
{
    while (run->block) {
        const struct block *block = run->block;

        while (run->at < block->count) {
            if (block->positions[run->at] >= limit)
                return true;
            *(*out)++ = block->positions[run->at++];
        }
        run->block = block->next;
        run->at = 0;
    }
    return false;
}

/* Merge the positions of one word. Each worker's are ascending; a heap gives the worker whose next is the smallest, and as many
 * are copied from it as are smaller than all others' next. */
static void merge(struct entry **entries, unsigned count, uint32_t *out)
{
    struct run runs[MAX_WORKERS];

    for (unsigned i = 0; i < count; i++)
        runs[i] = (struct run){.block = entries[i]->first};
    for (unsigned i = count / 2; i-- > 0;)
        sift_down(runs, count, i);
    while (count > 0) {
        uint64_t limit = UINT64_MAX;

        if (count > 1)
            limit = head(&runs[1]);
        if (count > 2 && head(&runs[2]) < limit)
            limit = head(&runs[2]);
        if (!copy_below(&runs[0], limit, &out))
            runs[0] = runs[--count];
        sift_down(runs, count, 0);
    }
}

void reduce_bucket(const struct table *tables, unsigned workers, unsigned bucket, struct arena *arena, struct part *part)
{
    unsigned count = 0, words = 0;

    for (unsigned w = 0; w < workers; w++)
        for (const struct entry *entry = tables[w].buckets[bucket]; entry; entry = entry->next)
            count++;
    part->count = 0;
    if (count == 0)
        return;
    struct entry **entries = arena_take(arena, count * sizeof(struct entry *));

    count = 0;
    for (unsigned w = 0; w < workers; w++)
        for (struct entry *entry = tables[w].buckets[bucket]; entry; entry = entry->next)
            entries[count++] = entry;
    qsort(entries, count, sizeof(struct entry *), compare_entries);
    for (unsigned i = 0; i < count; i++)
        words += i == 0 || compare_words(entries[i - 1], entries[i]) != 0;
    part->lists = arena_take(arena, words * sizeof(struct posting_list));
    for (unsigned i = 0, after; i < count; i = after) {
        uint32_t total = 0;

        for (after = i; after < count && compare_words(entries[i], entries[after]) == 0; after++)
            total += entries[after]->count;
        uint32_t *positions = arena_take(arena, total * sizeof(uint32_t));

        merge(&entries[i], after - i, positions);
        part->lists[part->count++] = (struct posting_list){entries[i]->word, entries[i]->length, total, positions};
    }
}

struct index_sums index_sums(const struct part *parts)
{
    struct index_sums sums = {.ordered = true};

    for (unsigned p = 0; p < bucket_count(); p++) {
        for (unsigned i = 0; i < parts[p].count; i++) {
            const struct posting_list *list = &parts[p].lists[i];

            /* Equal words have equal hashes and so are in one part: no other word of it may be the same. */
            for (unsigned j = 0; j < i; j++)
                if (list->length == parts[p].lists[j].length && memcmp(list->word, parts[p].lists[j].word, list->length) == 0)
                    sums.ordered = false;
            for (uint32_t k = 0; k < list->count; k++) {
                sums.sum += corpus_occurrence(list->word, list->length, 0, list->positions[k]);
                if (k && list->positions[k] <= list->positions[k - 1])
                    sums.ordered = false;
            }
            sums.occurrences += list->count;
            sums.words++;
        }
    }
    return sums;
}
