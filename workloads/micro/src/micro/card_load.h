/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the benchmarks with clients behind the network card have in common: orders to the load and its result, and workers that
 * serve TCP connections to a port of their own, which stay.
 */
#ifndef MICRO_CARD_LOAD_H
#define MICRO_CARD_LOAD_H

#include "micro.h"

#include "card.h"

#define MAX_MESSAGE 1500
#define MOST_WAITING "16384" /* connections for one accept() */

/* Worker 0 orders requests, and waits for the load's result, so that the region ends when the last client has its last reply. */
void load_setup(void);
void load_prepare(const struct worker *);
/* `requests` to each of `ports` ports, from CARD_FIRST_PORT on. `format`: the kind of load, and what is its own. */
void load_order(unsigned ports, uint64_t requests, const char *format, ...) __attribute__((format(printf, 3, 4)));
void take_answer(struct worker *);
/* `what`: the worker's sum 0, which must be the iterations. */
void load_finish(const char *what);

/* A socket of UDP at the worker's port. A datagram that does not come is an error. */
int own_udp_port(const struct worker *);
int listen_on(uint16_t port);

/* The worker's end of a connection. */
struct tcp_end {
    int fd;
    uint64_t have; /* bytes of the next request */
    uint64_t sent; /* bytes of the reply */
    bool full;     /* no room for more of the reply; it waits until it can be written */
    char bytes[MAX_MESSAGE];
};
/* A worker's connections. */
struct tcp {
    int listener, events;
    uint64_t connections, accepted, answered;
    uint64_t joins, joined; /* first messages of connections: how many there must be, and were */
    uint64_t bytes;         /* of a request */
    bool ordered;
    struct tcp_end *ends;
};
/* Called when an end can be read, or written if it has asked for that; counts `answered`. */
typedef void tcp_serve(struct worker *, struct tcp *, struct tcp_end *);

/* `bytes`: of a request. */
struct tcp *tcp_prepare(const struct worker *, uint64_t bytes);
/* The order of load_order() the first time, and then the same load with other requests. */
void load_order_or_again(struct tcp *, uint64_t requests, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Serves until all connections have come and `iterations` requests were answered; then worker 0 takes the load's result. */
void tcp_work(struct worker *, struct tcp *, uint64_t iterations, tcp_serve *);
/* Waits for `events` (EPOLLIN, EPOLLOUT) of an end from now on. */
void tcp_wait_for(const struct tcp *, struct tcp_end *, uint32_t events);
/* A connection that breaks is an error; it is closed. */
void tcp_broken(struct worker *, struct tcp_end *, long got);
/* Reads more of a request of `bytes`. Whether it is whole. */
bool tcp_receive(struct worker *, struct tcp_end *, uint64_t bytes);

#endif
