/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Text for the applications that index some: documents whose words follow from their number alone, so any core can write any of
 * them, and the words and their positions are known without reading the text.
 *
 * As in source code, three words of four are of a common vocabulary, used by Zipf's law, and one is an identifier that only a
 * section of one document has. Of a large text not every name is new: documents CORPUS_OWN_NAMES apart have the same identifiers.
 * Words are lower-case letters; a blank or, after every twelfth, a line break follows each.
 */
#ifndef MOSBENCH_CORPUS_H
#define MOSBENCH_CORPUS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define CORPUS_WORD_ROOM 16    /* bytes; no word is longer than 8 */
#define CORPUS_COMMON 512      /* words of the common vocabulary */
#define CORPUS_TABLE 6750      /* sum over all ranks of CORPUS_SCALE / (rank + 1), rounded down */
#define CORPUS_SCALE 1024      /* how often the commonest word is in the table */
#define CORPUS_SECTION 1024    /* words in a section */
#define CORPUS_LOCAL 64        /* identifiers of a section */
#define CORPUS_SECTIONS 64     /* in a document at most: 320 KB of text */
#define CORPUS_OWN_NAMES 4096  /* documents: times CORPUS_SECTIONS and CORPUS_LOCAL this is 2^24 identifiers */
#define CORPUS_DOCUMENTS 65536 /* at most */

/* Common words by rank, each as often as it is likely. Filled once, then only read. */
struct corpus {
    uint16_t ranks[CORPUS_TABLE];
};

/* Where a reader of one document is. */
struct corpus_document {
    const struct corpus *corpus;
    uint64_t random;
    uint32_t document, words;
};

static inline void corpus_make(struct corpus *corpus)
{
    unsigned used = 0;

    for (unsigned rank = 0; rank < CORPUS_COMMON; rank++)
        for (unsigned i = 0; i < CORPUS_SCALE / (rank + 1); i++)
            corpus->ranks[used++] = (uint16_t)rank;
}

/* Mixes all bits of a number (the finaliser of SplitMix64). */
static inline uint64_t corpus_mix(uint64_t value)
{
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
    value = (value ^ value >> 27) * 0x94d049bb133111ebu;
    return value ^ value >> 31;
}

static inline struct corpus_document corpus_open(const struct corpus *corpus, uint32_t document)
{
    return (struct corpus_document){.corpus = corpus, .random = corpus_mix(document + 1), .document = document};
}

/* The word of a number: syllables of a consonant and a vowel, 80 of them. Different numbers have different words. */
static inline unsigned corpus_spell(uint32_t number, char *word)
{
    unsigned length = 0;

    do {
        word[length++] = "bcdfghklmnprstvz"[number % 16];
        word[length++] = "aeiou"[number / 16 % 5];
        number /= 80;
    } while (number > 0);
    return length;
}

/* Write the next word and what follows it to `text` (CORPUS_WORD_ROOM bytes); returns the length of the word alone. */
static inline unsigned corpus_next(struct corpus_document *document, char *text)
{
    uint64_t random = document->random = document->random * 6364136223846793005u + 1442695040888963407u;
    uint32_t number, choice = (uint32_t)(random >> 33);

    if (choice % 4) {
        number = document->corpus->ranks[(choice >> 2) % CORPUS_TABLE];
    } else {
        /* the smaller of two: some identifiers are used more than others */
        uint32_t one = choice >> 2 & (CORPUS_LOCAL - 1), other = choice >> 10 & (CORPUS_LOCAL - 1);
        uint32_t section = document->document % CORPUS_OWN_NAMES * CORPUS_SECTIONS + document->words / CORPUS_SECTION;
        uint32_t identifier = section * CORPUS_LOCAL + (one < other ? one : other);

        number = 80 * 80 * 80 + (identifier * 0x9e3779b1u & 0xffffff); /* an odd factor: a permutation */
    }
    unsigned length = corpus_spell(number, text);

    text[length] = ++document->words % 12 ? ' ' : '\n';
    return length;
}

/* What an index is compared by: the sum of this over all words, documents and positions (byte offsets). */
static inline uint64_t corpus_occurrence(const char *word, unsigned length, uint32_t document, uint32_t position)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < length; i++)
        value = value * 31 + (unsigned char)word[i];
    return corpus_mix(corpus_mix(value + length) + ((uint64_t)document << 32 | position));
}

#endif
