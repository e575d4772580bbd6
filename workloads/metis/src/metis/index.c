/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The library: keeps what map emits, and reduce brings together what the workers have found for a word.
 */
#define _GNU_SOURCE
#include "metis.h"

#include <string.h>

#include "corpus.h"
#include "workers.h"

uint32_t bucket_count;

void table_make(struct table *table, struct arena *arena)
{
    table->arena = arena;
    table->buckets = arena_take(arena, bucket_count * sizeof(struct bucket));
    /* Written before it is read: a page that is read first is the kernel's page of zeros, and the later write flushes the TLBs of
     * all threads. */
    memset(table->buckets, 0, bucket_count * sizeof(struct bucket));
}

void table_emit(struct table *table, const char *word, size_t length, const char *place)
{
    struct bucket *bucket = &table->buckets[job.hash(word, length) % bucket_count];
    struct entry *entry = bucket_entry(bucket, word, length, table->arena);

    if (entry->count == 1u << entry->size) {
        const char **more = arena_take_array(table->arena, entry->size + 1);

        memcpy(more, entry->places, entry->count * sizeof(*more));
        arena_give_array(table->arena, entry->size, entry->places);
        entry->places = more;
        entry->size++;
    }
    entry->places[entry->count++] = place;
}

/* Where a reader of one worker's bucket is: at the end `entry` is NULL. */
struct reader {
    const struct node *leaf;
    const struct entry *entry;
};

static struct reader begin(const struct bucket *bucket)
{
    const struct node *leaf = bucket->first_leaf;

    return (struct reader){leaf, leaf ? leaf->entries : NULL};
}

static void go_on(struct reader *reader)
{
    if (++reader->entry < reader->leaf->entries + reader->leaf->count)
        return;
    reader->leaf = reader->leaf->next;
    reader->entry = reader->leaf ? reader->leaf->entries : NULL;
}

/* The first in order of the words at which the readers are; NULL when all are at the end. */
static const char *least(const struct reader *readers, unsigned workers)
{
    const char *found = NULL;

    for (unsigned w = 0; w < workers; w++)
        if (readers[w].entry && (!found || job.compare(readers[w].entry->word, found) < 0))
            found = readers[w].entry->word;
    return found;
}

void reduce_bucket(const struct table *tables, unsigned workers, unsigned bucket, struct arena *arena, struct part *part)
{
    struct reader readers[MAX_WORKERS];
    struct posting_list **link = &part->lists;

    for (unsigned w = 0; w < workers; w++)
        readers[w] = begin(&tables[w].buckets[bucket]);
    for (const char *word; (word = least(readers, workers));) {
        bool has[MAX_WORKERS];
        uint32_t count = 0;

        for (unsigned w = 0; w < workers; w++) {
            has[w] = readers[w].entry && job.compare(readers[w].entry->word, word) == 0;
            count += has[w] ? readers[w].entry->count : 0;
        }
        struct posting_list *list = arena_take(arena, sizeof(*list) + count * sizeof(list->places[0]));
        const char **out = list->places;

        list->word = word;
        list->count = count;
        for (unsigned w = 0; w < workers; w++) {
            if (!has[w])
                continue;
            memcpy(out, readers[w].entry->places, readers[w].entry->count * sizeof(*out));
            out += readers[w].entry->count;
            go_on(&readers[w]);
        }
        *link = list;
        link = &list->next;
    }
    *link = NULL;
}

struct index_sums index_sums(const struct part *parts, const char *text)
{
    struct index_sums sums = {.ordered = true};

    for (unsigned p = 0; p < bucket_count; p++) {
        for (const struct posting_list *list = parts[p].lists; list; list = list->next) {
            unsigned length = (unsigned)strlen(list->word);

            if (list->next && job.compare(list->word, list->next->word) >= 0)
                sums.ordered = false;
            for (uint32_t i = 0; i < list->count; i++)
                sums.all.sum += corpus_occurrence(list->word, length, 0, (uint32_t)(list->places[i] - text));
            sums.all.words += list->count;
            sums.different++;
        }
    }
    return sums;
}
