/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Traffic over the network card, with clients at the other end of its wire (docs/reference/card.md). Workers are processes.
 */
#define _GNU_SOURCE
#include "card_load.h"

/* ---- card-udp-echo: each worker answers the datagrams that come to its port ----
 * Checked: each worker answered `iterations` datagrams, and each client got its own bytes back. */

static void echo_prepare(struct worker *worker)
{
    int *fd = memory(sizeof(*fd), -1, PAGES_SMALL, NULL);

    load_prepare(worker);
    *fd = own_udp_port(worker);
    worker->state = fd;
}

static void echo_work(struct worker *worker, uint64_t iterations)
{
    const int fd = *(const int *)worker->state;
    char datagram[MAX_MESSAGE];

    if (worker->index == 0)
        load_order(run.workers, iterations, "udp bytes=%lu", number_setting("P_DATAGRAM_BYTES"));
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

static void rr_prepare(struct worker *worker)
{
    load_prepare(worker);
    worker->state = tcp_prepare(worker, number_setting("P_DATAGRAM_BYTES"));
}

static void rr_serve(struct worker *worker, struct tcp *tcp, struct tcp_end *end)
{
    if (tcp_receive(worker, end, tcp->bytes)) {
        ssize_t sent = send(end->fd, end->bytes, tcp->bytes, MSG_NOSIGNAL);

        EXPECT(worker, sent == (ssize_t)tcp->bytes, "send failed", sent);
        end->have = 0;
        tcp->answered++;
    }
}

static void rr_work(struct worker *worker, uint64_t iterations)
{
    struct tcp *tcp = worker->state;

    if (worker->index == 0)
        load_order_or_again(tcp, iterations, "tcp bytes=%lu", tcp->bytes);
    tcp_work(worker, tcp, iterations, rr_serve);
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
        load_order(1, iterations * run.workers, "tcp close=1 bytes=%lu", bytes);
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
