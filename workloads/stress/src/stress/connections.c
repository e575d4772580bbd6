/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Connecting to and accepting from listening sockets that several cores share, and that are closed with connections waiting.
 *
 * What must hold: a connection that was accepted carries what its client sent; whoever was not accepted is told so when the
 * listening socket dies; a socket with nobody waiting says so; no connection is accepted twice or lost; a port is in use for as
 * long as one connection that was accepted there is, also without the listening socket, and free after that.
 */
#define _GNU_SOURCE
#include "tcp.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>

#define BACKLOG 64
#define WAITING 5
#define FIRST_PORT 10000 /* of the workers' own ports, which nobody is given who asks for any */

struct totals {
    uint64_t connected, accepted, sent, received;
};

static int common;
static struct sockaddr_in common_address;
static struct totals *totals; /* of all workers */

static void setup(void)
{
    common = listen_at(0, &common_address, 1024);
    totals = shared_memory(sizeof(*totals));
}

/* One connection made and one taken from the socket that all share: maybe another's. */
static void share(struct worker *worker)
{
    uint64_t sent = 1 + draw(worker, 1 << 30), got = 0;
    int client = connect_to(&common_address), server;

    __atomic_add_fetch(&totals->connected, 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&totals->sent, sent, __ATOMIC_RELAXED);
    MUST(send(client, &sent, sizeof(sent), 0) == sizeof(sent), "send");
    server = accept(common, NULL, NULL);
    MUST(server >= 0, "accept");
    MUST(recv(server, &got, sizeof(got), MSG_WAITALL) == sizeof(got), "an accepted connection lost what was sent");
    __atomic_add_fetch(&totals->accepted, 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&totals->received, got, __ATOMIC_RELAXED);
    MUST(close(server) == 0, "close");
    /* Wait until one's own connection was taken, and reset by whoever took it. */
    MUST(recv(client, &got, sizeof(got), 0) == -1 && errno == ECONNRESET, "the other end was not closed");
    errno = 0;
    MUST(close(client) == 0, "close");
    did(worker, 10);
}

/* A listening socket of one's own that dies with connections waiting. */
static void die_waiting(struct worker *worker)
{
    struct sockaddr_in address;
    int listener = listen_at(0, &address, BACKLOG), clients[WAITING], server;
    unsigned taken = draw(worker, WAITING);
    struct pollfd ready = {.fd = listener, .events = POLLIN};
    char byte;

    MUST(fcntl(listener, F_SETFL, O_NONBLOCK) == 0, "O_NONBLOCK");
    MUST(poll(&ready, 1, 0) == 0, "a listening socket without connections says it has one");
    MUST(accept(listener, NULL, NULL) == -1 && errno == EAGAIN, "accept did not say that there is nothing");
    errno = 0;
    for (unsigned i = 0; i < WAITING; i++)
        clients[i] = connect_to(&address);
    MUST(poll(&ready, 1, 1000) == 1 && ready.revents & POLLIN, "a listening socket does not say that it has connections");
    for (unsigned i = 0; i < taken; i++) {
        server = accept(listener, NULL, NULL);
        MUST(server >= 0, "accept");
        MUST(close(server) == 0, "close");
    }
    if (draw(worker, 2)) { /* listens once more, with what it had */
        MUST(shutdown(listener, SHUT_RDWR) == 0, "shutdown of a listening socket");
        MUST(accept(listener, NULL, NULL) == -1 && errno == EINVAL, "accept on a socket that does not listen");
        errno = 0;
    }
    MUST(close(listener) == 0, "close");
    for (unsigned i = 0; i < WAITING; i++) {
        ssize_t got = recv(clients[i], &byte, 1, 0);

        MUST(got == 0 || (got == -1 && errno == ECONNRESET), "a connection outlives its listening socket");
        errno = 0;
        MUST(close(clients[i]) == 0, "close");
    }
    did(worker, 8 + 4 * WAITING + 2 * taken);
}

/* Whether a socket can be bound to an address by who does not share it. */
static bool is_free(const struct sockaddr_in *address)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    bool bound;

    MUST(fd >= 0, "socket");
    bound = bind(fd, (const struct sockaddr *)address, sizeof(*address)) == 0;
    MUST(bound || errno == EADDRINUSE, "bind");
    errno = 0;
    MUST(close(fd) == 0, "close");
    return bound;
}

/* Connections of a listening socket that is closed, or listens on, hold its port. They end in any order. */
static void hold_port(struct worker *worker)
{
    struct sockaddr_in address;
    int listener = listen_at(FIRST_PORT + worker->index, &address, BACKLOG), clients[WAITING], servers[WAITING];
    bool early = draw(worker, 2), looks = draw(worker, 2);
    unsigned first = draw(worker, WAITING);

    for (unsigned i = 0; i < WAITING; i++) {
        clients[i] = connect_to(&address);
        servers[i] = accept(listener, NULL, NULL);
        MUST(servers[i] >= 0, "accept");
        MUST(!looks || !is_free(&address), "the port of a listening socket is free");
    }
    if (early)
        MUST(close(listener) == 0, "close");
    for (unsigned i = 0; i < WAITING; i++) {
        unsigned one = (first + i) % WAITING;

        MUST(!is_free(&address), "the port of an accepted connection is free");
        MUST(close(servers[one]) == 0 && close(clients[one]) == 0, "close");
    }
    if (!early) {
        MUST(!is_free(&address), "the port of a listening socket is free");
        MUST(close(listener) == 0, "close");
    }
    MUST(is_free(&address), "a port stays in use when all its sockets are closed");
    did(worker, 4 + 6 * WAITING);
}

static void work(struct worker *worker, uint64_t iterations)
{
    for (uint64_t i = 0; i < iterations; i++) {
        share(worker);
        if (draw(worker, 4) == 0)
            hold_port(worker);
        if (draw(worker, 4) == 0)
            die_waiting(worker);
    }
}

static void finish(void)
{
    MUST(totals->accepted == totals->connected, "%lu connections made, %lu accepted", totals->connected, totals->accepted);
    MUST(totals->received == totals->sent, "what was received is not what was sent");
}

const struct stress connections_stress = {.name = "connections", .setup = setup, .work = work, .finish = finish};
