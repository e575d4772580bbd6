/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Making and closing sockets and pipes, found again through /proc, handed to others, and closed by the last who has them.
 */
#define _GNU_SOURCE
#include "stress.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define HELD 24

static uint64_t number_of(int fd)
{
    struct stat status;

    MUST(fstat(fd, &status) == 0, "fstat of a socket or pipe");
    return status.st_ino;
}

static void check_name(int fd, const char *kind)
{
    char path[64], link[64] = "", want[64];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    snprintf(want, sizeof(want), "%s:[%lu]", kind, number_of(fd));
    MUST(readlink(path, link, sizeof(link) - 1) > 0, "readlink %s", path);
    MUST(strcmp(link, want) == 0, "%s is called %s instead of %s", path, link, want);
}

/* Through a pair of sockets: the descriptor that arrives is the same pipe, after the sender has closed its own. */
static void hand_over(struct worker *worker)
{
    int pair[2], ends[2], received = -1;
    uint64_t sent = draw(worker, 1 << 30), got = 0, number;
    char byte = 0, room[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec piece = {&byte, 1};
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof(room)};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);

    MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0 && pipe(ends) == 0, "socketpair or pipe");
    number = number_of(ends[0]);
    *header = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int))};
    memcpy(CMSG_DATA(header), &ends[0], sizeof(int));
    MUST(sendmsg(pair[0], &message, 0) == 1 && close(ends[0]) == 0, "sendmsg");
    MUST(write(ends[1], &sent, sizeof(sent)) == sizeof(sent) && close(ends[1]) == 0, "write to a pipe");
    MUST(recvmsg(pair[1], &message, 0) == 1 && (header = CMSG_FIRSTHDR(&message)), "recvmsg");
    memcpy(&received, CMSG_DATA(header), sizeof(int));
    MUST(number_of(received) == number, "another pipe arrived than was sent");
    MUST(read(received, &got, sizeof(got)) == sizeof(got) && got == sent, "a handed-over pipe lost what was in it");
    MUST(read(received, &got, sizeof(got)) == 0, "a pipe without writers does not end");
    MUST(close(received) == 0 && close(pair[0]) == 0 && close(pair[1]) == 0, "close");
    did(worker, 12);
}

/* A pipe opened once more through /proc keeps it alive. */
static void open_again(struct worker *worker)
{
    int ends[2], again;
    char path[64], byte = 'x';

    MUST(pipe(ends) == 0, "pipe");
    snprintf(path, sizeof(path), "/proc/self/fd/%d", ends[0]);
    again = open(path, O_RDONLY | O_NONBLOCK);
    MUST(again >= 0 && number_of(again) == number_of(ends[0]), "a pipe opened through /proc is another");
    MUST(close(ends[0]) == 0 && write(ends[1], &byte, 1) == 1, "a pipe with a reader left refuses a write");
    byte = 0;
    MUST(read(again, &byte, 1) == 1 && byte == 'x', "a pipe opened through /proc lost a byte");
    MUST(close(again) == 0 && close(ends[1]) == 0, "close");
    did(worker, 8);
}

static void work(struct worker *worker, uint64_t iterations)
{
    int held[HELD];

    for (unsigned i = 0; i < HELD; i++)
        held[i] = -1;
    for (uint64_t i = 0; i < iterations; i++) {
        unsigned place = draw(worker, HELD);
        int fd;

        if (held[place] >= 0)
            MUST(close(held[place]) == 0, "close");
        fd = held[place] = socket(draw(worker, 2) ? AF_INET : AF_UNIX, draw(worker, 2) ? SOCK_DGRAM : SOCK_STREAM, 0);
        MUST(fd >= 0, "socket");
        for (unsigned other = 0; other < HELD; other++)
            MUST(other == place || held[other] < 0 || number_of(held[other]) != number_of(fd), "two sockets have one number");
        check_name(fd, "socket");
        did(worker, 4 + HELD);
        if (draw(worker, 8) == 0)
            hand_over(worker);
        if (draw(worker, 8) == 0)
            open_again(worker);
    }
    for (unsigned i = 0; i < HELD; i++)
        if (held[i] >= 0)
            MUST(close(held[i]) == 0, "close");
}

const struct stress sockets_stress = {.name = "sockets", .work = work};
