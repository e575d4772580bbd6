/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The text: every word is as likely as any other. As in that of the authors' suite, whose random numbers are in turn even and
 * odd, a letter of even place in the alphabet follows one of odd place, and one of odd place one of even.
 */
#include "corpus.h"
#include "metis.h"

void text_write(char *text, uint32_t document, struct word_sums *sums)
{
    size_t begin = (size_t)document * DOCUMENT_BYTES;
    uint64_t random = corpus_mix(document + 1);

    for (size_t at = begin; at < begin + DOCUMENT_BYTES; at += WORD_BYTES) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        uint32_t number = (uint32_t)(random >> 33), letter = number % 26;

        number /= 26;
        for (unsigned i = 0; i < WORD_LETTERS; i++, number /= 13) {
            text[at + i] = (char)('A' + letter);
            letter = number % 13 * 2 + (letter + 1) % 2;
        }
        text[at + WORD_LETTERS] = ' ';
        sums->sum += corpus_occurrence(text + at, WORD_LETTERS, 0, (uint32_t)at);
        sums->words++;
    }
}
