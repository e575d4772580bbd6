/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "card_load.h"

#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>

#define PATIENCE_SECONDS 2      /* for a datagram that was lost, which is an error */
#define TCP_PATIENCE_SECONDS 10 /* TCP sends again, and clients give up after four */
#define OTHER_FILES 1024

static struct {
    struct card_result last; /* in the region */
    uint64_t sent, right;    /* in all */
} *answer;
static int load; /* of worker 0 */

void load_setup(void)
{
    card_bring_up(run.cores, run.core_count);
    answer = shared_memory(sizeof(*answer));
}

void load_prepare(const struct worker *worker)
{
    if (worker->index == 0)
        load = card_load();
}

static void order(unsigned ports, uint64_t requests, const char *format, va_list arguments)
{
    char kind[200];

    if (vsnprintf(kind, sizeof(kind), format, arguments) >= (int)sizeof(kind))
        die("an order to the load is too long");
    card_order(load, "%s connections=%lu ports=%u first_port=%u requests=%lu think_ns=%lu rate=%lu", kind,
               number_setting("P_CONNECTIONS") * run.workers, ports, CARD_FIRST_PORT, requests,
               number_setting("P_THINK_US") * 1000, number_setting("P_RATE") * run.workers);
}

void load_order(unsigned ports, uint64_t requests, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    order(ports, requests, format, arguments);
    va_end(arguments);
}

void load_order_or_again(struct tcp *tcp, uint64_t requests, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    if (tcp->ordered)
        card_order(load, "again requests=%lu", requests);
    else
        order(run.workers, requests, format, arguments);
    va_end(arguments);
    tcp->ordered = true;
}

void take_answer(struct worker *worker)
{
    if (!card_take_result(load, &answer->last)) {
        worker_error(worker, answer->last.text[0] ? "the load refused the order" : "no answer of the load", 0);
        return;
    }
    answer->sent += answer->last.sent;
    answer->right += answer->last.right;
}

void load_finish(const char *what)
{
    const struct card_result *last = &answer->last;

    check(what, sum_of(0), total_iterations());
    check("requests that the clients sent", answer->sent, total_iterations());
    check("replies that were right", answer->right, total_iterations());
    result_extra(",\"dropped\":%lu,\"late\":%lu,\"load\":%s", last->dropped, last->late,
                 last->text[0] == '{' ? last->text : "null");
}

int own_udp_port(const struct worker *worker)
{
    struct sockaddr_in own = card_address(CARD_GUEST, (uint16_t)(CARD_FIRST_PORT + worker->index));
    int fd = card_socket(SOCK_DGRAM, PATIENCE_SECONDS);

    if (bind(fd, (struct sockaddr *)&own, sizeof(own)))
        die("cannot have port %u", CARD_FIRST_PORT + worker->index);
    return fd;
}

int listen_on(uint16_t port)
{
    struct sockaddr_in own = card_address(CARD_GUEST, port);
    int fd = card_socket(SOCK_STREAM, TCP_PATIENCE_SECONDS), on = 1;

    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) || bind(fd, (struct sockaddr *)&own, sizeof(own)) ||
        listen(fd, atoi(MOST_WAITING)))
        die("cannot listen on port %u", port);
    return fd;
}

/* Room for the connections of the process: those of one worker or, where workers are threads, of all. */
static void allow_sockets(void)
{
    const uint64_t sockets = number_setting("P_CONNECTIONS") * (run.benchmark->processes ? 1 : run.workers);
    const struct rlimit files = {.rlim_cur = sockets + OTHER_FILES, .rlim_max = sockets + OTHER_FILES};

    if (setrlimit(RLIMIT_NOFILE, &files))
        die("no room for %lu connections", sockets);
}

/* `end`: NULL for the listening socket. */
static void control(const struct tcp *tcp, int what, int fd, struct tcp_end *end, uint32_t events)
{
    struct epoll_event event = {.events = events, .data = {.ptr = end}};

    if (epoll_ctl(tcp->events, what, fd, &event))
        die("cannot watch file descriptor %d", fd);
}

void tcp_wait_for(const struct tcp *tcp, struct tcp_end *end, uint32_t events)
{
    control(tcp, EPOLL_CTL_MOD, end->fd, end, events);
}

struct tcp *tcp_prepare(const struct worker *worker, uint64_t bytes)
{
    struct tcp *tcp = memory(sizeof(*tcp), -1, PAGES_SMALL, NULL);

    allow_sockets();
    *tcp = (struct tcp){
        .events = epoll_create1(0),
        .listener = listen_on((uint16_t)(CARD_FIRST_PORT + worker->index)),
        .connections = number_setting("P_CONNECTIONS"),
        .bytes = bytes,
    };
    if (tcp->events < 0)
        die("cannot watch file descriptors");
    tcp->ends = memory(tcp->connections * sizeof(*tcp->ends), -1, PAGES_SMALL, NULL);
    control(tcp, EPOLL_CTL_ADD, tcp->listener, NULL, EPOLLIN);
    return tcp;
}

static void take_connection(struct worker *worker, struct tcp *tcp)
{
    int fd = accept(tcp->listener, NULL, NULL), on = 1;
    struct tcp_end *end = &tcp->ends[tcp->accepted];

    if (fd < 0 || tcp->accepted == tcp->connections || setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on))) {
        worker_error(worker, "accept failed, or there are more connections than clients", fd);
        return;
    }
    *end = (struct tcp_end){.fd = fd};
    control(tcp, EPOLL_CTL_ADD, fd, end, EPOLLIN);
    tcp->accepted++;
}

void tcp_broken(struct worker *worker, struct tcp_end *end, long got)
{
    worker_error(worker, "a connection ended", got);
    close(end->fd);
}

bool tcp_receive(struct worker *worker, struct tcp_end *end, uint64_t bytes)
{
    ssize_t got = recv(end->fd, end->bytes + end->have, bytes - end->have, MSG_DONTWAIT);

    if (got <= 0) {
        tcp_broken(worker, end, got);
        return false;
    }
    end->have += (uint64_t)got;
    return end->have == bytes;
}

void tcp_work(struct worker *worker, struct tcp *tcp, uint64_t iterations, tcp_serve *serve)
{
    struct epoll_event events[64];

    tcp->answered = 0;
    while (tcp->answered < iterations || tcp->accepted < tcp->connections || tcp->joined < tcp->joins) {
        int count = epoll_wait(tcp->events, events, 64, TCP_PATIENCE_SECONDS * 1000);

        if (count <= 0) {
            worker_error(worker, "no request came", count);
            return;
        }
        for (int i = 0; i < count; i++) {
            if (events[i].data.ptr)
                serve(worker, tcp, events[i].data.ptr);
            else
                take_connection(worker, tcp);
        }
    }
    worker->sums[0] += iterations;
    worker->units += iterations;
    if (worker->index == 0)
        take_answer(worker);
}
