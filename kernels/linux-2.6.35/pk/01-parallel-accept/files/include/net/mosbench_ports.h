/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _NET_MOSBENCH_PORTS_H
#define _NET_MOSBENCH_PORTS_H

struct inet_bind_bucket;
struct sock;

#ifdef CONFIG_MOSBENCH_PARALLEL_ACCEPT
/* In struct inet_bind_bucket: whether owners of the port may be in the cores' lists. */
#define MOSBENCH_BUCKET int mosbench_children;
/* In struct inet_connection_sock: the core whose list it is in, plus one; 0: in the port's. Changes under that list's lock. */
#define MOSBENCH_PORT int mosbench_port_core;

/* A new connection gets its listener's port, in this core's list. Returns 0, and does nothing, outside of a core's handshakes. */
int mosbench_inherit_port(struct sock *listener, struct sock *child);
/* Give a port back. Returns 0, and does nothing, if the socket is in the port's own list. Softirqs are off. */
int mosbench_put_port(struct sock *sk);
/* Move what the cores' lists have of a port to its own, under its lock, for who must see all owners. */
void mosbench_gather_children(struct inet_bind_bucket *bucket);

#define mosbench_bucket_init(bucket) ((bucket)->mosbench_children = 0)
#define mosbench_has_children(bucket) ((bucket)->mosbench_children)
#define mosbench_gather(bucket)                                 \
	do {                                                    \
		if (unlikely((bucket)->mosbench_children))      \
			mosbench_gather_children(bucket);       \
	} while (0)
#else
#define MOSBENCH_BUCKET
#define MOSBENCH_PORT
#define mosbench_inherit_port(listener, child) 0
#define mosbench_put_port(sk) 0
#define mosbench_bucket_init(bucket) do { } while (0)
#define mosbench_has_children(bucket) 0
#define mosbench_gather(bucket) do { } while (0)
#endif

#endif
