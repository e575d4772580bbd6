/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Traffic over the network card, with clients at the other end of its wire (docs/reference/card.md). Workers are processes.
 */
#define _GNU_SOURCE
#include "micro.h"

#include "card.h"

#include <sys/epoll.h>
#include <sys/resource.h>

#define PATIENCE_SECONDS 2      /* for a datagram that was lost, which is an error */
#define TCP_PATIENCE_SECONDS 10 /* TCP sends again, and clients give up after four */
#define MAX_MESSAGE 1500
#define MOST_WAITING "16384" /* connections for one accept() */

/* ---- what all have in common: worker 0 orders requests, and waits for the load's result, so that the region ends when the last
 * client has its last reply ---- */

static struct {
    struct card_result last; /* in the region */
    uint64_t sent, right;    /* in all */
} *answer;
static int load; /* of worker 0 */

static void load_setup(void)
{
    card_bring_up(run.cores, run.core_count);
    answer = shared_memory(sizeof(*answer));
}

static void load_prepare(const struct worker *worker)
{
    if (worker->index == 0)
        load = card_load();
}

static void take_answer(struct worker *worker)
{
    if (!card_take_result(load, &answer->last)) {
        worker_error(worker, answer->last.text[0] ? "the load refused the order" : "no answer of the load", 0);
        return;
    }
    answer->sent += answer->last.sent;
    answer->right += answer->last.right;
}

static void load_finish(const char *what)
{
    const struct card_result *last = &answer->last;

    check(what, sum_of(0), total_iterations());
    check("requests that the clients sent", answer->sent, total_iterations());
    check("replies that were right", answer->right, total_iterations());
    result_extra(",\"dropped\":%lu,\"late\":%lu,\"load\":%s", last->dropped, last->late,
                 last->text[0] == '{' ? last->text : "null");
}

/* ---- card-udp-echo: each worker answers the datagrams that come to its port ----
 * Checked: each worker answered `iterations` datagrams, and each client got its own bytes back. */

static void echo_prepare(struct worker *worker)
{
    struct sockaddr_in own = card_address(CARD_GUEST, (uint16_t)(CARD_FIRST_PORT + worker->index));
    int *fd = memory(sizeof(*fd), -1, PAGES_SMALL, NULL);

    load_prepare(worker);
    *fd = card_socket(SOCK_DGRAM, PATIENCE_SECONDS);
    if (bind(*fd, (struct sockaddr *)&own, sizeof(own)))
        die("cannot have port %u", CARD_FIRST_PORT + worker->index);
    worker->state = fd;
}

static void echo_work(struct worker *worker, uint64_t iterations)
{
    const int fd = *(const int *)worker->state;
    char datagram[MAX_MESSAGE];

    if (worker->index == 0)
        card_order(load, "udp connections=%lu ports=%u first_port=%u bytes=%lu requests=%lu think_ns=%lu rate=%lu",
                   number_setting("P_CONNECTIONS") * run.workers, run.workers, CARD_FIRST_PORT,
                   number_setting("P_DATAGRAM_BYTES"), iterations, number_setting("P_THINK_US") * 1000,
                   number_setting("P_RATE") * run.workers);
    for (uint64_t i = 0; i < iterations; i++) {
        struct sockaddr_in client;
        socklen_t room = sizeof(client);
        ssize_t got = recvfrom(fd, datagram, sizeof(datagram), 0, (struct sockaddr *)&client, &room), sent;

        if (got < 0) {
            worker_error(worker, "no datagram came", got);
            return;
        }
        sent = sendto(fd, datagram, (size_t)got, 0, (struct sockaddr *)&client, room);
        EXPECT(worker, sent == got, "sendto failed", sent);
        worker->sums[0]++;
    }
    if (worker->index == 0)
        take_answer(worker);
    worker->units += iterations;
}

static void echo_finish(void)
{
    load_finish("datagrams answered");
}

/* ---- card-tcp-rr: each worker answers requests on the connections to its port, which stay ----
 * The clients connect before the region. Checked as above, and a connection that breaks is an error. */

struct tcp_end {
    uint64_t have; /* bytes of the next request */
    char bytes[MAX_MESSAGE];
};
struct tcp {
    int listener, events;
    uint64_t connections, accepted, answered;
    uint64_t bytes; /* of a request */
    bool ordered;
    int ends_count;
    struct tcp_end *ends; /* by file descriptor */
};

static int listen_on(uint16_t port)
{
    struct sockaddr_in own = card_address(CARD_GUEST, port);
    int fd = card_socket(SOCK_STREAM, TCP_PATIENCE_SECONDS), on = 1;

    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) || bind(fd, (struct sockaddr *)&own, sizeof(own)) ||
        listen(fd, atoi(MOST_WAITING)))
        die("cannot listen on port %u", port);
    return fd;
}

static void watch(const struct tcp *tcp, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data = {.fd = fd}};

    if (fd >= tcp->ends_count || epoll_ctl(tcp->events, EPOLL_CTL_ADD, fd, &event))
        die("cannot watch file descriptor %d", fd);
}

static void rr_prepare(struct worker *worker)
{
    struct tcp *tcp = memory(sizeof(*tcp), -1, PAGES_SMALL, NULL);
    struct rlimit files;

    load_prepare(worker);
    *tcp = (struct tcp){
        .events = epoll_create1(0), .connections = number_setting("P_CONNECTIONS"), .bytes = number_setting("P_DATAGRAM_BYTES")};
    tcp->ends_count = (int)tcp->connections + 1024;
    files = (struct rlimit){.rlim_cur = (rlim_t)tcp->ends_count, .rlim_max = (rlim_t)tcp->ends_count};
    if (tcp->events < 0 || setrlimit(RLIMIT_NOFILE, &files))
        die("no room for %lu connections", tcp->connections);
    tcp->ends = memory((size_t)tcp->ends_count * sizeof(*tcp->ends), -1, PAGES_SMALL, NULL);
    tcp->listener = listen_on((uint16_t)(CARD_FIRST_PORT + worker->index));
    watch(tcp, tcp->listener);
    worker->state = tcp;
}

static void rr_order(struct tcp *tcp, uint64_t requests)
{
    if (tcp->ordered)
        card_order(load, "again requests=%lu", requests);
    else
        card_order(load, "tcp connections=%lu ports=%u first_port=%u bytes=%lu requests=%lu think_ns=%lu rate=%lu",
                   tcp->connections * run.workers, run.workers, CARD_FIRST_PORT, tcp->bytes, requests,
                   number_setting("P_THINK_US") * 1000, number_setting("P_RATE") * run.workers);
    tcp->ordered = true;
}

static void rr_serve(struct worker *worker, struct tcp *tcp, int fd)
{
    struct tcp_end *end = &tcp->ends[fd];
    ssize_t got = recv(fd, end->bytes + end->have, tcp->bytes - end->have, MSG_DONTWAIT);

    if (got <= 0) {
        worker_error(worker, "a connection ended", got);
        close(fd);
        return;
    }
    end->have += (uint64_t)got;
    if (end->have == tcp->bytes) {
        ssize_t sent = send(fd, end->bytes, tcp->bytes, MSG_NOSIGNAL);

        EXPECT(worker, sent == (ssize_t)tcp->bytes, "send failed", sent);
        end->have = 0;
        tcp->answered++;
    }
}

static void rr_work(struct worker *worker, uint64_t iterations)
{
    struct tcp *tcp = worker->state;
    struct epoll_event events[64];

    if (worker->index == 0)
        rr_order(tcp, iterations);
    tcp->answered = 0;
    while (tcp->answered < iterations || tcp->accepted < tcp->connections) {
        int count = epoll_wait(tcp->events, events, 64, TCP_PATIENCE_SECONDS * 1000);

        if (count <= 0) {
            worker_error(worker, "no request came", count);
            return;
        }
        for (int i = 0; i < count; i++) {
            int fd = events[i].data.fd;

            if (fd != tcp->listener) {
                rr_serve(worker, tcp, fd);
                continue;
            }
            fd = accept(tcp->listener, NULL, NULL);
            EXPECT(worker, fd >= 0, "accept failed", fd);
            if (fd >= 0) {
                tcp->ends[fd].have = 0;
                watch(tcp, fd);
                tcp->accepted++;
            }
        }
    }
    worker->sums[0] += iterations;
    worker->units += iterations;
    if (worker->index == 0)
        take_answer(worker);
}

static void rr_finish(void)
{
    load_finish("requests answered");
}

/* ---- card-accept: all workers accept from one listening socket, a connection for each request ----
 * Checked as above. */

static int common_listener;

/* The clients of all cores connect at once. With the kernel's own limits it would drop some, which ask again after three seconds:
 * of those that wait for accept(), and of those that come while a worker has the listening socket, which count as received. */
static void let_all_wait(void)
{
    static const char *const limits[] = {"/proc/sys/net/core/somaxconn", "/proc/sys/net/ipv4/tcp_max_syn_backlog"};

    for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
        int fd = open(limits[i], O_WRONLY);

        if (fd < 0 || write(fd, MOST_WAITING, strlen(MOST_WAITING)) < 0)
            die("cannot set %s", limits[i]);
        close(fd);
    }
}

static void card_accept_setup(void)
{
    int room = 1 << 24; /* bytes */

    load_setup();
    let_all_wait();
    common_listener = listen_on(CARD_FIRST_PORT);
    if (setsockopt(common_listener, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)))
        die("cannot make the listening socket's buffer larger");
}

static void card_accept_prepare(struct worker *worker)
{
    uint64_t *bytes = memory(sizeof(*bytes), -1, PAGES_SMALL, NULL);

    load_prepare(worker);
    *bytes = number_setting("P_DATAGRAM_BYTES");
    worker->state = bytes;
}

static void card_accept_work(struct worker *worker, uint64_t iterations)
{
    const uint64_t bytes = *(const uint64_t *)worker->state;
    char request[MAX_MESSAGE];

    if (worker->index == 0)
        card_order(load, "tcp close=1 connections=%lu ports=1 first_port=%u bytes=%lu requests=%lu think_ns=%lu rate=%lu",
                   number_setting("P_CONNECTIONS") * run.workers, CARD_FIRST_PORT, bytes, iterations * run.workers,
                   number_setting("P_THINK_US") * 1000, number_setting("P_RATE") * run.workers);
    for (uint64_t i = 0; i < iterations; i++) {
        int fd = accept(common_listener, NULL, NULL);
        ssize_t got, sent = 0;

        if (fd < 0) {
            worker_error(worker, "no connection came", fd);
            return;
        }
        got = recv(fd, request, bytes, MSG_WAITALL);
        if (got == (ssize_t)bytes)
            sent = send(fd, request, bytes, MSG_NOSIGNAL);
        EXPECT(worker, sent == (ssize_t)bytes, "a request did not come, or its reply did not go", got);
        EXPECT(worker, close(fd) == 0, "close failed", fd);
        worker->sums[0]++;
    }
    if (worker->index == 0)
        take_answer(worker);
    worker->units += iterations;
}

static void card_accept_finish(void)
{
    load_finish("connections served");
}

const struct benchmark card_benchmarks[] = {
    {
        .name = "card-udp-echo",
        .unit = "datagrams",
        .processes = true,
        .setup = load_setup,
        .prepare = echo_prepare,
        .work = echo_work,
        .finish = echo_finish,
    },
    {
        .name = "card-tcp-rr",
        .unit = "requests",
        .processes = true,
        .setup = load_setup,
        .prepare = rr_prepare,
        .work = rr_work,
        .finish = rr_finish,
    },
    {
        .name = "card-accept",
        .unit = "connections",
        .processes = true,
        .setup = card_accept_setup,
        .prepare = card_accept_prepare,
        .work = card_accept_work,
        .finish = card_accept_finish,
    },
    {.name = NULL},
};
