/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads the index as a query would: from the Berkeley DBs to the positions.
 */
#define _GNU_SOURCE
#include "pedsort.h"

#include <db.h>

#include "corpus.h"
#include "workers.h"

static void db_must(int error, const char *what)
{
    if (error) {
        errno = 0;
        die("Berkeley DB cannot %s: %s", what, db_strerror(error));
    }
}

/* The record at `offset` must be of the word. */
static void check_word(FILE *positions, uint64_t offset, const char *word, uint32_t size, struct found *found)
{
    char text[WORD_ROOM + 1];
    struct position position;
    uint32_t count;

    if (size > WORD_ROOM || fseeko(positions, (off_t)offset, SEEK_SET) || fread(text, 1, size + 1, positions) != size + 1 ||
        memcmp(text, word, size) != 0 || text[size] != '\0' || fread(&count, sizeof(count), 1, positions) != 1) {
        found->wrong++;
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (fread(&position, sizeof(position), 1, positions) != 1) {
            found->wrong++;
            return;
        }
        found->sum += corpus_occurrence(word, size, (uint32_t)position.document, position.offset);
    }
    found->occurrences += count;
    found->words++;
}

static void check_db(const char *path, FILE *positions, struct found *found)
{
    DB *db;
    DBC *cursor;
    DBT key = {0}, value = {0};
    uint32_t entries = 0;
    int error;

    db_must(db_create(&db, NULL, 0), "make a handle");
    db_must(db->open(db, NULL, path, NULL, DB_BTREE, DB_RDONLY, 0), "open a file");
    db_must(db->cursor(db, NULL, &cursor, 0), "make a cursor");
    while ((error = cursor->get(cursor, &key, &value, DB_NEXT)) == 0) {
        uint64_t offset = UINT64_MAX;

        if (value.size == sizeof(offset))
            memcpy(&offset, value.data, sizeof(offset));
        check_word(positions, offset, key.data, key.size, found);
        entries++;
    }
    if (error != DB_NOTFOUND)
        db_must(error, "read a file");
    found->wrong += entries == 0 || entries > settings.db_entries;
    db_must(cursor->close(cursor), "close a cursor");
    db_must(db->close(db, 0), "close a file");
}

void check_index(const char *folder, uint64_t databases, struct found *found)
{
    char path[300];

    snprintf(path, sizeof(path), "%s/positions", folder);
    FILE *positions = fopen(path, "r");

    if (!positions)
        die("cannot read %s", path);
    for (uint64_t i = 0; i < databases; i++) {
        snprintf(path, sizeof(path), "%s/words-%lu.db", folder, i);
        check_db(path, positions, found);
    }
    fclose(positions);
}
