/* SPDX-License-Identifier: BSD-3-Clause */
/* The m5op command: gem5's operations for shell scripts of the guest. See roi.h. */

#define _GNU_SOURCE
#include "roi.h"

static int usage(void)
{
    fputs("usage: m5op exit | checkpoint | readfile | work-begin N | work-end N\n", stderr);
    return 2;
}

static int read_file(void)
{
    static char buffer[4096];
    uint64_t offset = 0, got;

    memset(buffer, 1, sizeof(buffer)); /* gem5 writes into it without a page fault */
    while ((got = ROI_GEM5(ROI_GEM5_READ_FILE, buffer, sizeof(buffer), offset)) > 0 && got <= sizeof(buffer)) {
        if (fwrite(buffer, 1, got, stdout) != got)
            return 1;
        offset += got;
    }
    return fflush(stdout) ? 1 : 0;
}

int main(int argc, char **argv)
{
    if (!roi_in_gem5()) {
        fputs("m5op: works in gem5 only, where MOSBENCH_ENGINE=gem5 is set\n", stderr);
        return 1;
    }
    if (argc == 3 && (!strcmp(argv[1], "work-begin") || !strcmp(argv[1], "work-end"))) {
        uint64_t identifier = strtoull(argv[2], NULL, 10);

        if (argv[1][5] == 'b')
            ROI_GEM5(ROI_GEM5_WORK_BEGIN, identifier, 0ul, 0ul);
        else
            ROI_GEM5(ROI_GEM5_WORK_END, identifier, 0ul, 0ul);
        return 0;
    }
    if (argc != 2)
        return usage();
    if (!strcmp(argv[1], "readfile"))
        return read_file();
    if (!strcmp(argv[1], "checkpoint"))
        ROI_GEM5(ROI_GEM5_CHECKPOINT, 0ul, 0ul, 0ul);
    else if (!strcmp(argv[1], "exit"))
        ROI_GEM5(ROI_GEM5_EXIT, 0ul, 0ul, 0ul);
    else
        return usage();
    return 0;
}
