/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Preloaded: a process that has one listening socket waits for connections in accept(), as Apache 2.2 did with one address to
 * listen at.
 *
 * Apache 2.4 waits in epoll_wait() first. A new connection then calls into the epoll of every process that listens at the socket,
 * which the paper's Apache 2.2.14 did not ask for. Here an epoll whose only socket listens is always ready, and the kernel knows
 * nothing of it; the socket blocks, as it is the only one, so that accept() sleeps.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST 1024 /* descriptors of a process */

/* What epoll_wait() says of the only socket of an epoll; no events where that does not listen. */
static struct epoll_event only[MOST];

static int listens(int socket)
{
    int found = 0;
    socklen_t size = sizeof(found);

    return getsockopt(socket, SOL_SOCKET, SO_ACCEPTCONN, &found, &size) == 0 && found;
}

int epoll_ctl(int epoll, int operation, int descriptor, struct epoll_event *event)
{
    if (epoll >= 0 && epoll < MOST) {
        if (operation == EPOLL_CTL_ADD && only[epoll].events) {
            fprintf(stderr, "as_the_papers: an epoll has a listening socket and something else\n");
            abort();
        }
        if (operation == EPOLL_CTL_ADD && listens(descriptor)) {
            only[epoll] = *event;
            only[epoll].events = EPOLLIN;
            return 0;
        }
        if (operation == EPOLL_CTL_DEL && only[epoll].events) {
            only[epoll].events = 0;
            return 0;
        }
    }
    errno = 0;
    return (int)syscall(SYS_epoll_ctl, epoll, operation, descriptor, event);
}

int epoll_wait(int epoll, struct epoll_event *events, int room, int patience)
{
    if (epoll >= 0 && epoll < MOST && only[epoll].events && room > 0) {
        events[0] = only[epoll];
        return 1;
    }
    return (int)syscall(SYS_epoll_wait, epoll, events, room, patience);
}
