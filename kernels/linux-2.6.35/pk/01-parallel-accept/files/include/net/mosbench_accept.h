/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _NET_MOSBENCH_ACCEPT_H
#define _NET_MOSBENCH_ACCEPT_H

#include <net/sock.h>

struct request_sock;
struct request_sock_queue;
struct mosbench_backlog;

/* Add a connection to the queue of this core. The caller holds the listening socket's lock, so it is not closed meanwhile. */
void mosbench_backlogs_add(struct request_sock_queue *queue, struct request_sock *request);
/* Take all connections out of all queues: a list through dl_next. */
struct request_sock *mosbench_backlogs_yank(struct request_sock_queue *queue);
int mosbench_backlogs_empty(struct request_sock_queue *queue);
/* What inet_csk_accept() does. */
struct sock *mosbench_accept(struct sock *listener, int flags, int *error);

#ifdef CONFIG_MOSBENCH_PARALLEL_ACCEPT
#define MOSBENCH_PARALLEL_ACCEPT 1

/* In struct request_sock_queue: a pointer to per-core queues, from the first listen() to the end of the socket. */
#define MOSBENCH_BACKLOGS struct mosbench_backlog *mosbench_backlogs;

int mosbench_backlogs_alloc(struct request_sock_queue *queue);
void mosbench_backlogs_free(struct request_sock_queue *queue);
/* Whether another connection would be one too many, as seen from this core. */
int mosbench_acceptq_is_full(struct sock *listener);
unsigned int mosbench_acceptq_length(const struct sock *listener);

#define mosbench_acceptq_removed(listener) do { } while (0)
#else
#define MOSBENCH_PARALLEL_ACCEPT 0
#define MOSBENCH_BACKLOGS
#define mosbench_backlogs_alloc(queue) 0
#define mosbench_backlogs_free(queue) do { } while (0)
#define mosbench_acceptq_is_full(listener) sk_acceptq_is_full(listener)
#define mosbench_acceptq_length(listener) ((listener)->sk_ack_backlog)
#define mosbench_acceptq_removed(listener) sk_acceptq_removed(listener)
#endif

#endif
