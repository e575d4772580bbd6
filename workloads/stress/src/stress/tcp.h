/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What variants with TCP connections share.
 */
#ifndef STRESS_TCP_H
#define STRESS_TCP_H

#include "stress.h"

#include <arpa/inet.h>
#include <sys/socket.h>

/* Closing resets the connection, so that no port stays in TIME_WAIT. Those accepted from a listening socket inherit it. */
static inline void reset_on_close(int fd)
{
    const struct linger linger = {.l_onoff = 1, .l_linger = 0};

    MUST(setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)) == 0, "SO_LINGER");
}

/* Listen at a port of the loopback, 0: at any; `address` is where. */
static inline int listen_at(unsigned port, struct sockaddr_in *address, int backlog)
{
    socklen_t bytes = sizeof(*address);
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    *address = (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    MUST(fd >= 0 && bind(fd, (struct sockaddr *)address, sizeof(*address)) == 0 && listen(fd, backlog) == 0 &&
             getsockname(fd, (struct sockaddr *)address, &bytes) == 0,
         "cannot listen");
    reset_on_close(fd);
    return fd;
}

static inline int connect_to(const struct sockaddr_in *address)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    MUST(fd >= 0, "socket");
    reset_on_close(fd);
    MUST(connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0, "connect");
    return fd;
}

#endif
