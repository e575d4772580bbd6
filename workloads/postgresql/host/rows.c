/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Prints the rows of a table, as many as the argument says, in the text format of COPY: what `client` copies into a table that is
 * made in the guest.
 */
#include "queries.h"

int main(int count, char **arguments)
{
    char value[VALUE_BYTES + 1];
    unsigned long rows = count == 2 ? strtoul(arguments[1], NULL, 10) : 0;

    for (uint32_t key = 0; key < rows; key++) {
        write_value(value, key, 0);
        printf("%u\t%s\n", key, value);
    }
    return rows == 0 || fflush(stdout) || ferror(stdout);
}
