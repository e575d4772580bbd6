/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a client asks PostgreSQL for, byte by byte. The client in the guest and the machines behind the network card
 * (native/load/postgresql.cc) send the same, so this is C and C++.
 *
 * A batch is some simple query messages. SELECTs that follow each other are in one, which makes them one transaction; an UPDATE
 * has a message, and so a transaction, of its own. Keys are chosen at random among all rows for SELECT, and for UPDATE among
 * those that no other client updates: then each row's value is known at the end.
 */
#ifndef MOSBENCH_POSTGRESQL_QUERIES_H
#define MOSBENCH_POSTGRESQL_QUERIES_H

#include <arpa/inet.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BATCH 1024
#define QUERY_ROOM 96    /* bytes of one query with its message */
#define VALUE_BYTES 24   /* key, version and their check: 8 hexadecimal digits each */
#define UPDATE_ONE_IN 20 /* of the queries of the variant read-write */
#define QUERY_HEAD 5     /* bytes of a message before its content: a type, and a length of 32 bits in network order */

/* One of the clients that make up a load. */
struct queries {
    uint64_t random;    /* at first, what makes it different from others: its number and 1 */
    uint32_t index;     /* its number, from 0 */
    uint32_t clients;   /* of all */
    uint32_t rows;      /* of the table */
    uint32_t *versions; /* of the rows that it updates, row_count() of them: how often it did; NULL: it updates none */
};

/* One query of a batch. */
struct query {
    uint32_t key;
    bool update;
};

/* Mixes all bits of a number (the finaliser of SplitMix64). */
static inline uint64_t mix(uint64_t value)
{
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
    value = (value ^ value >> 27) * 0x94d049bb133111ebu;
    return value ^ value >> 31;
}

static inline uint64_t next_random(uint64_t *random)
{
    return mix(*random += 0x9e3779b97f4a7c15u);
}

static inline void write_value(char *text, uint32_t key, uint32_t version)
{
    snprintf(text, VALUE_BYTES + 1, "%08x%08x%08x", key, version, (uint32_t)mix((uint64_t)key << 32 | version));
}

/* Is that the value of the row of this key in some version, and in which? */
static inline bool read_value(const char *text, size_t bytes, uint32_t key, uint32_t *version)
{
    char copy[VALUE_BYTES + 1], expected[VALUE_BYTES + 1], version_text[9];

    if (bytes != VALUE_BYTES)
        return false;
    memcpy(copy, text, VALUE_BYTES);
    copy[VALUE_BYTES] = '\0';
    memcpy(version_text, copy + 8, 8);
    version_text[8] = '\0';
    *version = (uint32_t)strtoul(version_text, NULL, 16);
    write_value(expected, key, *version);
    return strcmp(copy, expected) == 0;
}

/* Is that a value that the row of this key may have had at some time, after up to `newest` updates? */
static inline bool is_value(const char *text, size_t bytes, uint32_t key, uint32_t newest)
{
    uint32_t version;

    return read_value(text, bytes, key, &version) && version <= newest;
}

/* Rows that a client may update: client n has those whose key is n and a multiple of the number of clients. */
static inline size_t row_count(const struct queries *of)
{
    return of->rows / of->clients + 1;
}

/* How often this client may have updated the row of a key by now; the rows of others any number of times. */
static inline uint32_t newest_version(const struct queries *of, uint32_t key)
{
    if (!of->versions)
        return 0;
    return key % of->clients == of->index ? of->versions[key / of->clients] : UINT32_MAX;
}

/* Ends the simple query message of `bytes`, text included, that begins at `message`; returns its length. */
static inline size_t end_query(char *message, size_t bytes)
{
    uint32_t size = htonl((uint32_t)bytes);

    message[0] = 'Q';
    memcpy(message + 1, &size, sizeof(size));
    message[bytes] = '\0';
    return bytes + 1;
}

/* Writes the messages of a batch of `count` queries to `out`, of count * QUERY_ROOM bytes, what is asked to `queries`, and the
 * number of messages to `messages`. Returns the bytes. */
static inline size_t write_batch(struct queries *of, uint64_t count, struct query *queries, char *out, unsigned *messages)
{
    size_t used = 0, selects = 0; /* bytes that are whole messages; of the SELECTs after them */

    *messages = 0;
    for (uint64_t i = 0; i < count; i++) {
        struct query *query = &queries[i];

        query->update = of->versions && next_random(&of->random) % UPDATE_ONE_IN == 0;
        query->key = (uint32_t)(next_random(&of->random) % of->rows);
        if (!query->update) {
            selects += (size_t)sprintf(out + used + QUERY_HEAD + selects, "SELECT value FROM pairs WHERE key=%u;", query->key);
            continue;
        }
        if (selects > 0) {
            used += end_query(out + used, QUERY_HEAD + selects);
            ++*messages;
            selects = 0;
        }
        query->key = query->key / of->clients * of->clients + of->index;
        if (query->key >= of->rows)
            query->key = of->index;
        char value[VALUE_BYTES + 1];

        write_value(value, query->key, ++of->versions[query->key / of->clients]);
        used +=
            end_query(out + used, QUERY_HEAD + (size_t)sprintf(out + used + QUERY_HEAD,
                                                               "UPDATE pairs SET value='%s' WHERE key=%u;", value, query->key));
        ++*messages;
    }
    if (selects > 0) {
        used += end_query(out + used, QUERY_HEAD + selects);
        ++*messages;
    }
    return used;
}

#endif
