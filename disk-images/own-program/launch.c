/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs a program of the user's once, to its end, and reports it:
 *
 *     launch whole PROGRAM ARGUMENT...     all of it is the region, from its first instruction to its exit
 *     launch marked PROGRAM ARGUMENT...    the region is what it marks itself with roi.h
 *
 * The end of a whole program is marked when it exits and before its memory is given back: what it had mapped names its code. For
 * that its first thread is traced, which costs it a stop at its start, one at its end and one for each signal. Where that thread
 * ends before others of the program the mark comes when the last one has ended.
 */

#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "roi.h"

enum {
    STATUS_LEFT_BEHIND = 3, /* processes of the program outlived it */
    STATUS_USAGE = 2,
    STATUS_NOT_FOUND = 127,
    PATIENCE = 50, /* looks, 10 ms apart, for processes that are still ending */
};

/* A sentence that says why the run is none: it stands in the place of "exited with status". */
static __attribute__((format(printf, 1, 2))) void fail(const char *format, ...)
{
    char sentence[512], json[640];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(sentence, sizeof(sentence), format, arguments);
    va_end(arguments);
    for (char *c = sentence; *c; c++)
        if (*c == '"' || *c == '\\' || (unsigned char)*c < ' ')
            *c = '\'';
    snprintf(json, sizeof(json), "{\"event\":\"error\",\"error\":\"%s\"}", sentence);
    roi_report(json);
}

static __attribute__((noreturn)) void start(bool traced, char **command)
{
    if (traced && ptrace(PTRACE_TRACEME, 0, NULL, NULL)) {
        fail("The program cannot be traced: %s.", strerror(errno));
        _exit(STATUS_NOT_FOUND);
    }
    execvp(command[0], command);
    fail("The guest cannot execute %s: %s.", command[0], strerror(errno));
    _exit(STATUS_NOT_FOUND);
}

/* Whether a thread that is about to end leaves others at work: it ends alone (exit and not exit_group), and there are others. */
static bool leaves_others(pid_t thread)
{
    struct user_regs_struct registers;
    unsigned threads = 0;
    char path[64];

    if (ptrace(PTRACE_GETREGS, thread, NULL, &registers) || registers.orig_rax != SYS_exit)
        return false;
    snprintf(path, sizeof(path), "/proc/%d/task", (int)thread);
    DIR *tasks = opendir(path);

    for (struct dirent *entry; tasks && (entry = readdir(tasks));)
        threads += entry->d_name[0] != '.';
    if (tasks)
        closedir(tasks);
    return threads > 1;
}

/* Follow a traced program from its exec to its end; the marks are set at both. Returns its wait status. */
static int follow(pid_t child, uint64_t *cycles)
{
    bool begun = false, ended = false;
    uint64_t began = 0;
    int status;

    for (;;) {
        if (waitpid(child, &status, 0) < 0) {
            if (errno == EINTR)
                continue;
            return -1;
        }
        if (!WIFSTOPPED(status))
            break;
        int signal_number = WSTOPSIG(status);

        if (signal_number == SIGTRAP) { /* ours: an exec, or the exit */
            if (!begun) {
                ptrace(PTRACE_SETOPTIONS, child, NULL, (void *)PTRACE_O_TRACEEXIT);
                begun = true;
                roi_begin();
                began = roi_cycles();
            } else if (status >> 16 == PTRACE_EVENT_EXIT && !ended && !leaves_others(child)) {
                *cycles = roi_cycles() - began;
                ended = true;
                roi_end();
            }
            signal_number = 0;
        }
        ptrace(PTRACE_CONT, child, NULL, (void *)(long)signal_number);
    }
    if (begun && !ended) { /* killed without a word, or its first thread had ended before */
        *cycles = roi_cycles() - began;
        roi_end();
    }
    return status;
}

/* How many processes there are but process 1, this one and the kernel's own, which have no command line; the name of one of them.
 */
static unsigned left_behind(char *name, size_t size)
{
    unsigned count = 0;
    DIR *processes = opendir("/proc");

    if (!processes)
        return 0;
    for (struct dirent *entry; (entry = readdir(processes));) {
        char path[300], text[64];
        pid_t process = (pid_t)atoi(entry->d_name);

        if (!isdigit((unsigned char)entry->d_name[0]) || process == 1 || process == getpid())
            continue;
        snprintf(path, sizeof(path), "/proc/%s/cmdline", entry->d_name);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t got = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

        if (fd >= 0)
            close(fd);
        if (got <= 0)
            continue;
        text[got] = '\0';
        snprintf(name, size, "%s", text);
        count++;
    }
    closedir(processes);
    return count;
}

int main(int argc, char **argv)
{
    char name[64] = "";
    uint64_t cycles = 0, units = 1;
    int status = 0;

    if (argc < 3 || (strcmp(argv[1], "whole") && strcmp(argv[1], "marked"))) {
        fputs("usage: launch whole|marked PROGRAM ARGUMENT...\n", stderr);
        return STATUS_USAGE;
    }
    bool whole = !strcmp(argv[1], "whole");

    fflush(NULL);
    pid_t child = fork();

    if (child < 0) {
        fail("The program cannot be started: %s.", strerror(errno));
        return STATUS_NOT_FOUND;
    }
    if (child == 0)
        start(whole, argv + 2);
    if (whole)
        status = follow(child, &cycles);
    else
        while (waitpid(child, &status, 0) < 0 && errno == EINTR)
            ;
    if (WIFSIGNALED(status)) { /* ends as it did, and init says of what */
        signal(WTERMSIG(status), SIG_DFL);
        raise(WTERMSIG(status));
    }
    if (WEXITSTATUS(status))
        return WEXITSTATUS(status);
    unsigned count = left_behind(name, sizeof(name));

    for (int look = 0; count && look < PATIENCE; look++) {
        usleep(10000);
        count = left_behind(name, sizeof(name));
    }
    if (count) {
        fail("The program ended and left %u process%s behind, %s%s.", count, count == 1 ? "" : "es", name,
             count == 1 ? "" : " among them");
        return STATUS_LEFT_BEHIND;
    }
    struct roi_result result = {
        .units = units,
        .unit = "runs",
        .cores = 1,
        .per_core = &units,
        .cycles_per_core = &cycles,
        .members = whole ? "\"region\":\"whole\"" : "\"region\":\"marked\"",
        .checked = true,
        .detail = "the program ended with status 0, and nothing else was checked",
    };

    return roi_result(&result) ? 0 : 1;
}
