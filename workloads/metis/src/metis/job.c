/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The job: each word of the text is emitted with its place.
 */
#include <ctype.h>
#include <string.h>

#include "metis.h"

#define MOST_LETTERS 63 /* of a word; of a longer one the first */

static uint64_t map(struct table *table, const char *text, size_t begin, size_t end)
{
    char word[MOST_LETTERS + 1];
    size_t length = 0;
    const char *place = NULL;
    uint64_t words = 0;

    for (size_t at = begin; at <= end; at++) {
        int letter = at < end ? toupper((unsigned char)text[at]) : ' ';

        if (letter >= 'A' && letter <= 'Z') {
            if (length == 0)
                place = &text[at];
            if (length < MOST_LETTERS)
                word[length++] = (char)letter;
        } else if (length > 0) {
            word[length] = '\0';
            table_emit(table, word, length, place);
            words++;
            length = 0;
        }
    }
    return words;
}

/* Bernstein's, which Metis uses where an application has none of its own. */
static uint32_t hash(const char *word, size_t length)
{
    uint32_t value = 5381;

    for (size_t i = 0; i < length; i++)
        value = value * 33 + (unsigned char)word[i];
    return value;
}

const struct job job = {.map = map, .hash = hash, .compare = strcmp};
