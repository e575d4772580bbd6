/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A bucket: a B+ tree of entries by word.
 */
#include <string.h>

#include "metis.h"

#define FIRST_SIZE 3 /* of an entry's places: room for 8 */

/* How many of `count` elements, each with its word first and `stride` bytes long, are not behind `word`; `same`: whether the last
 * of these has that word. */
static uint32_t not_behind(const void *elements, uint32_t count, size_t stride, const char *word, bool *same)
{
    uint32_t begin = 0, end = count;

    *same = false;
    while (begin < end) {
        uint32_t middle = (begin + end) / 2;
        int order = job.compare(word, *(const char *const *)((const char *)elements + middle * stride));

        if (order < 0) {
            end = middle;
        } else {
            begin = middle + 1;
            if (order == 0) {
                *same = true;
                break;
            }
        }
    }
    return begin;
}

/* The child with the words around `word`: the first has all that are before the others. */
static uint32_t child_of(const struct node *node, const char *word)
{
    bool same;

    return not_behind(&node->children[1], node->count - 1, sizeof(struct child), word, &same);
}

/* The second half of a full node becomes a new one. */
static struct node *split(struct node *node, size_t stride, struct arena *arena)
{
    struct node *half = arena_take(arena, sizeof(*half));

    half->count = node->count / 2;
    node->count -= half->count;
    memcpy(half->entries, (const char *)node->entries + node->count * stride, half->count * stride);
    return half;
}

/* Insert `entry`, whose word is not there; returns what is to be beside the node when that was full. */
static struct node *insert(struct node *node, uint32_t level, const struct entry *entry, struct arena *arena)
{
    bool same;

    if (level == 1) {
        uint32_t at = not_behind(node->entries, node->count, sizeof(*entry), entry->word, &same);

        memmove(&node->entries[at + 1], &node->entries[at], (node->count++ - at) * sizeof(*entry));
        node->entries[at] = *entry;
        if (node->count <= MOST_KEYS)
            return NULL;
        struct node *half = split(node, sizeof(*entry), arena);

        half->next = node->next;
        return node->next = half;
    }
    uint32_t at = child_of(node, entry->word) + 1;
    struct node *child = node->children[at - 1].node, *more = insert(child, level - 1, entry, arena);

    if (!more)
        return NULL;
    memmove(&node->children[at + 1], &node->children[at], (node->count++ - at) * sizeof(struct child));
    node->children[at] = (struct child){level == 2 ? more->entries[0].word : more->children[0].first, more};
    return node->count <= MOST_KEYS ? NULL : split(node, sizeof(struct child), arena);
}

static struct entry *find(const struct bucket *bucket, const char *word)
{
    struct node *node = bucket->root;
    bool same = false;

    if (!node)
        return NULL;
    for (uint32_t level = bucket->levels; level > 1; level--)
        node = node->children[child_of(node, word)].node;
    uint32_t at = not_behind(node->entries, node->count, sizeof(struct entry), word, &same);

    return same ? &node->entries[at - 1] : NULL;
}

struct entry *bucket_entry(struct bucket *bucket, const char *word, size_t length, struct arena *arena)
{
    struct entry *found = find(bucket, word);

    if (found)
        return found;
    char *copy = arena_take(arena, length + 1);
    struct entry entry = {.word = copy, .places = arena_take_array(arena, FIRST_SIZE), .size = FIRST_SIZE};

    memcpy(copy, word, length);
    if (!bucket->root) {
        bucket->root = bucket->first_leaf = arena_take(arena, sizeof(struct node));
        bucket->levels = 1;
    }
    struct node *more = insert(bucket->root, bucket->levels, &entry, arena);

    if (more) {
        struct node *root = arena_take(arena, sizeof(*root));

        root->count = 2;
        root->children[0].node = bucket->root;
        root->children[1] = (struct child){bucket->levels == 1 ? more->entries[0].word : more->children[0].first, more};
        bucket->root = root;
        bucket->levels++;
    }
    return find(bucket, word);
}
