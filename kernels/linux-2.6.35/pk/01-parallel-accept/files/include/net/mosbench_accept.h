/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _NET_MOSBENCH_ACCEPT_H
#define _NET_MOSBENCH_ACCEPT_H

#include <linux/percpu.h>
#include <net/mosbench_ports.h>
#include <net/sock.h>
#include <net/tcp_states.h>

struct inet_hashinfo;
struct request_sock;
struct request_sock_queue;
struct mosbench_backlogs;
struct sk_buff;

/* Add a connection to the queue of the core whose handshakes are being handled, or else of this core. */
void mosbench_backlogs_add(struct request_sock_queue *queue, struct request_sock *request);
/* Take all connections out of all queues, a list through dl_next, and forget all half-open ones. */
struct request_sock *mosbench_backlogs_yank(struct request_sock_queue *queue);
int mosbench_backlogs_empty(struct request_sock_queue *queue);
/* What inet_csk_accept() does. */
struct sock *mosbench_accept(struct sock *listener, int flags, int *error);

#ifdef CONFIG_MOSBENCH_PARALLEL_ACCEPT
#define MOSBENCH_PARALLEL_ACCEPT 1

/* In struct request_sock_queue: a pointer to per-core queues, from the first listen() to the end of the socket. */
#define MOSBENCH_BACKLOGS struct mosbench_backlogs *mosbench_backlogs;

int mosbench_backlogs_alloc(struct request_sock_queue *queue, unsigned int entries);
void mosbench_backlogs_free_all(struct request_sock_queue *queue);
#define mosbench_backlogs_free(queue)                           \
	do {                                                    \
		if (unlikely((queue)->mosbench_backlogs))       \
			mosbench_backlogs_free_all(queue);      \
	} while (0)
/* Whether another connection would be one too many, as seen from this core. */
int mosbench_acceptq_is_full(struct sock *listener);
unsigned int mosbench_acceptq_length(const struct sock *listener);

#define mosbench_acceptq_removed(listener) do { } while (0)
/* A connection was queued: wake one who sleeps in accept() on its core or, if none does, on another; and who polls the socket. */
void mosbench_data_ready(struct sock *listener);

/* ---- handshakes ---- */

/* Half-open connections of the core whose handshakes this core handles, under that core's lock; else NULL. */
DECLARE_PER_CPU(struct request_sock_queue *, mosbench_home);

/* Where a handshake that is being handled has its half-open connection. */
#define mosbench_queue(listener) (percpu_read(mosbench_home) ? : &inet_csk(listener)->icsk_accept_queue)

/* The socket that a packet is for, as __inet_lookup_skb(), in an RCU read-side section. *counted becomes 0 where the socket listens
 * and lasts to the section's end without a reference. */
struct sock *mosbench_lookup_skb(struct inet_hashinfo *table, struct sk_buff *packet, __be16 source, __be16 destination, int *counted);
#define mosbench_put(sk, counted)       \
	do {                            \
		if (counted)            \
			sock_put(sk);   \
	} while (0)
/* Charge a buffer to the socket that sends it. A listening one sends SYN-ACKs, whatever was charged before: they are nobody's. */
#define mosbench_charge(packet, sk)                     \
	do {                                            \
		if (!mosbench_receives(sk))             \
			skb_set_owner_w(packet, sk);    \
	} while (0)
/* Handle a packet for a listening socket without its lock. 0: that cannot be done now, and nothing was done. */
int mosbench_receive(struct sock *listener, struct sk_buff *packet);
/* tcp_v4_do_rcv() for who has the socket's lock or owns it: handshakes are handled among the cores' all the same. */
int mosbench_tcp_v4_do_rcv(struct sock *sk, struct sk_buff *packet);
/* An ICMP error for a half-open connection. Returns whether that is one of the cores'. */
int mosbench_listen_error(struct sock *listener, __be16 port, __be32 peer, __be32 own, u32 sequence);
/* Time-outs of half-open connections. */
void mosbench_prune(struct sock *listener, unsigned long interval, unsigned long timeout, unsigned long max_rto);
/* Half-open connections, as seen from this core, and whether another would be one too many. */
int mosbench_synq_length(const struct sock *listener);
int mosbench_synq_is_full(const struct sock *listener);
/* Whether the first half-open connection has to start the timer: one timer serves all cores, so not if it runs already. */
int mosbench_start_timer(const struct sock *listener);
/* Whether the last one has to stop it: it stops itself when no core has any. */
#define mosbench_stop_timer() (!percpu_read(mosbench_home))

#define mosbench_receives(sk) ((sk)->sk_state == TCP_LISTEN)
/* Who owns a listening socket keeps all cores from handling its handshakes: after it set the owner, wait for those that do. */
void mosbench_listener_wait(struct sock *listener);
#define mosbench_owned(sk)                                                              \
	do {                                                                            \
		if (unlikely((sk)->sk_state == TCP_LISTEN && (sk)->sk_prot->rsk_prot))  \
			mosbench_listener_wait(sk);                                     \
	} while (0)
#else
#define MOSBENCH_PARALLEL_ACCEPT 0
#define MOSBENCH_BACKLOGS
#define mosbench_backlogs_alloc(queue, entries) 0
#define mosbench_backlogs_free(queue) do { } while (0)
#define mosbench_acceptq_is_full(listener) sk_acceptq_is_full(listener)
#define mosbench_acceptq_length(listener) ((listener)->sk_ack_backlog)
#define mosbench_acceptq_removed(listener) sk_acceptq_removed(listener)
#define mosbench_data_ready(listener) (listener)->sk_data_ready(listener, 0)
#define mosbench_queue(listener) (&inet_csk(listener)->icsk_accept_queue)
#define mosbench_lookup_skb(table, packet, source, destination, counted) __inet_lookup_skb(table, packet, source, destination)
#define mosbench_put(sk, counted)       \
	do {                            \
		(void)(counted);        \
		sock_put(sk);           \
	} while (0)
#define mosbench_charge(packet, sk) skb_set_owner_w(packet, sk)
#define mosbench_receives(sk) 0
#define mosbench_receive(listener, packet) 0
#define mosbench_tcp_v4_do_rcv tcp_v4_do_rcv
#define mosbench_listen_error(listener, port, peer, own, sequence) 0
#define mosbench_prune(listener, interval, timeout, max_rto) do { } while (0)
#define mosbench_synq_length(listener) reqsk_queue_len(&inet_csk(listener)->icsk_accept_queue)
#define mosbench_synq_is_full(listener) reqsk_queue_is_full(&inet_csk(listener)->icsk_accept_queue)
#define mosbench_start_timer(listener) 1
#define mosbench_stop_timer() 1
#define mosbench_owned(sk) do { } while (0)
#endif

#endif
