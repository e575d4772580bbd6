/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs that end badly, by their argument: crash, background (a process outlives it), forever. */
#include <signal.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";

    if (!strcmp(way, "crash"))
        raise(SIGSEGV);
    if (!strcmp(way, "background") && fork() == 0) {
        setsid();
        for (;;)
            pause();
    }
    while (!strcmp(way, "forever"))
        ;
    return 0;
}
