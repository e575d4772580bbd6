/* SPDX-License-Identifier: BSD-3-Clause */
/* The roi command: marks and the result for workloads that are shell scripts. See roi.h. */

#define _GNU_SOURCE
#include "roi.h"

static int usage(void)
{
    fputs("usage: roi warm | roi begin | roi end | roi result JSON\n", stderr);
    return 2;
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "warm")) {
        roi_warm();
        return 0;
    }
    if (argc == 2 && !strcmp(argv[1], "begin")) {
        roi_begin();
        return 0;
    }
    if (argc == 2 && !strcmp(argv[1], "end")) {
        roi_end();
        return 0;
    }
    if (argc == 3 && !strcmp(argv[1], "result")) {
        const char *json = argv[2];

        if (json[0] != '{' || strchr(json, '\n')) {
            fputs("roi: the result is one JSON object in one line\n", stderr);
            return 2;
        }
        /* Scripts may leave the event's name out. */
        if (strstr(json, "\"event\""))
            return roi_report(json) ? 0 : 1;
        char *named = NULL;

        if (asprintf(&named, "{\"event\":\"result\",%s", json + 1) < 0)
            return 1;
        bool reported = roi_report(named);

        free(named);
        return reported ? 0 : 1;
    }
    return usage();
}
