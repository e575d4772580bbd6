/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _NET_MOSBENCH_ACCEPT_H
#define _NET_MOSBENCH_ACCEPT_H

/*
 * Accept queues per core of one listening socket. The hooks are macros, so that nothing is left of them where the option is off.
 * In the macros `queue` is a struct request_sock_queue, whose `mosbench` is set while its socket listens and ever after.
 */
struct mosbench_accept;
struct request_sock;
struct request_sock_queue;
struct sock;

#ifdef CONFIG_MOSBENCH_ACCEPT
#include <linux/types.h>

#define mosbench_accept_on(queue) ((queue)->mosbench != NULL)

/* Queues for a socket that begins to listen: 0, or -ENOMEM. */
int mosbench_accept_start(struct sock *sk);
/* The socket has left the state LISTEN and its queues are empty: give back what cores keep of it. */
void mosbench_accept_stop(struct sock *sk);
/* The memory of the socket goes. */
void mosbench_accept_free(struct sock *sk);

/* Add an established child on this core, bottom halves being off: false if the socket does not listen any more. */
bool mosbench_accept_add(struct sock *sk, struct request_sock *req, struct sock *child);
/* After that, on the same core, bottom halves still being off: wakes one who waits for it, or sees to it that somebody will. */
void mosbench_accept_ready(struct sock *sk);
/* The next connection, of this core or of one that offers its own, waiting for it if the caller may; or NULL and a negative *error. */
struct request_sock *mosbench_accept_next(struct sock *sk, int flags, int *error);
/* Any connection, looked for under the locks, so that none is overlooked that was being added; or NULL. */
struct request_sock *mosbench_accept_remove(struct request_sock_queue *queue);
bool mosbench_accept_empty(const struct request_sock_queue *queue);

/* Requests that are not yet connections: all, and those whose answer has not been repeated. */
void mosbench_requests_add(struct request_sock_queue *queue, int number, int young);
/* The answer to a request is repeated for the first time: it is not young any more. */
#define mosbench_request_aged(queue)                                                                                             \
	do {                                                                                                                     \
		if (mosbench_accept_on(queue))                                                                                   \
			mosbench_requests_add(queue, 0, -1);                                                                     \
		else                                                                                                             \
			atomic_dec(&(queue)->young);                                                                             \
	} while (0)
int mosbench_requests(const struct request_sock_queue *queue);
int mosbench_requests_young(const struct request_sock_queue *queue);
bool mosbench_requests_full(const struct sock *sk);

/* Connections that nobody has accepted yet. */
bool mosbench_acceptq_is_full(const struct sock *sk);
unsigned int mosbench_ack_backlog(const struct sock *sk);

/* References that requests have to their listening socket. */
bool mosbench_listener_hold(struct sock *sk);
void mosbench_listener_get(struct sock *sk); /* one more, the caller having one */
void mosbench_listener_put(struct sock *sk);

#define mosbench_accept_lock(sk)                                                                                                 \
	do {                                                                                                                     \
		if (!mosbench_accept_on(&inet_csk(sk)->icsk_accept_queue))                                                       \
			lock_sock(sk);                                                                                           \
	} while (0)
#define mosbench_accept_unlock(sk)                                                                                               \
	do {                                                                                                                     \
		if (!mosbench_accept_on(&inet_csk(sk)->icsk_accept_queue))                                                       \
			release_sock(sk);                                                                                        \
	} while (0)
#else
#define mosbench_accept_on(queue) 0
#define mosbench_accept_start(sk) 0
#define mosbench_accept_stop(sk) do { } while (0)
#define mosbench_accept_free(sk) do { } while (0)
#define mosbench_accept_add(sk, req, child) true
#define mosbench_accept_ready(sk) READ_ONCE((sk)->sk_data_ready)(sk)
#define mosbench_accept_next(sk, flags, error) NULL
#define mosbench_accept_remove(queue) NULL
#define mosbench_accept_empty(queue) true
#define mosbench_requests_add(queue, number, young) do { } while (0)
#define mosbench_request_aged(queue) atomic_dec(&(queue)->young)
#define mosbench_requests(queue) 0
#define mosbench_requests_young(queue) 0
#define mosbench_requests_full(sk) false
#define mosbench_acceptq_is_full(sk) sk_acceptq_is_full(sk)
#define mosbench_ack_backlog(sk) READ_ONCE((sk)->sk_ack_backlog)
#define mosbench_listener_hold(sk) refcount_inc_not_zero(&(sk)->sk_refcnt)
#define mosbench_listener_get(sk) sock_hold(sk)
#define mosbench_listener_put(sk) sock_put(sk)
#define mosbench_accept_lock(sk) lock_sock(sk)
#define mosbench_accept_unlock(sk) release_sock(sk)
#endif

#endif
