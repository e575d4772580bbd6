// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Owners of a port: those that came from a listening socket are in a list of the core that made them.
 *
 * A port has a list of the sockets that own it, with a lock. Each accepted connection is put into its listener's, beside those of all
 * cores, and taken out at its end. Here it goes into a list of the core that handles its handshake, which has connections of all
 * ports; as all its packets come to that core, it ends there too. Who must know all owners (bind(), and who finds the port's own list
 * empty) first moves the port's connections from the cores' lists to that.
 *
 * A port with connections in the cores' lists has an owner in its own: the listener, or another. So it is not freed: when its own list
 * gets empty, theirs is moved there. A connection that was moved is given back as without this.
 *
 * Locks: the port's, then a core's.
 */
#include <linux/list.h>
#include <linux/percpu.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <net/inet_connection_sock.h>
#include <net/inet_hashtables.h>
#include <net/mosbench_accept.h>
#include <net/mosbench_ports.h>
#include <net/sock.h>

struct mosbench_children {
	spinlock_t lock;
	struct hlist_head owners;
};

static DEFINE_PER_CPU_SHARED_ALIGNED(struct mosbench_children, mosbench_children) = {
	.lock = __SPIN_LOCK_UNLOCKED(mosbench_children.lock),
};

/* The listener listens while a core handles its handshakes, so it owns the port. */
int mosbench_inherit_port(struct sock *listener, struct sock *child)
{
	struct inet_bind_bucket *bucket = inet_csk(listener)->icsk_bind_hash;
	struct mosbench_children *here;

	if (!percpu_read(mosbench_home)) {
		inet_csk(child)->mosbench_port_core = 0;
		return 0;
	}
	if (!bucket->mosbench_children)
		bucket->mosbench_children = 1;
	here = &__get_cpu_var(mosbench_children);
	spin_lock(&here->lock);
	sk_add_bind_node(child, &here->owners);
	inet_csk(child)->icsk_bind_hash = bucket;
	inet_csk(child)->mosbench_port_core = smp_processor_id() + 1;
	spin_unlock(&here->lock);
	return 1;
}

int mosbench_put_port(struct sock *sk)
{
	struct inet_connection_sock *connection = inet_csk(sk);
	int core = ACCESS_ONCE(connection->mosbench_port_core), there;
	struct mosbench_children *children;

	if (!core)
		return 0;
	children = &per_cpu(mosbench_children, core - 1);
	spin_lock(&children->lock);
	there = connection->mosbench_port_core; /* or was moved meanwhile */
	if (there) {
		__sk_del_bind_node(sk);
		connection->icsk_bind_hash = NULL;
		connection->mosbench_port_core = 0;
		inet_sk(sk)->inet_num = 0;
	}
	spin_unlock(&children->lock);
	return there;
}

void mosbench_gather_children(struct inet_bind_bucket *bucket)
{
	struct hlist_node *node, *next;
	struct sock *sk;
	int cpu;

	for_each_possible_cpu(cpu) {
		struct mosbench_children *children = &per_cpu(mosbench_children, cpu);

		spin_lock(&children->lock);
		hlist_for_each_entry_safe(sk, node, next, &children->owners, sk_bind_node) {
			if (inet_csk(sk)->icsk_bind_hash != bucket)
				continue;
			__sk_del_bind_node(sk);
			sk_add_bind_node(sk, &bucket->owners);
			bucket->num_owners++;
			atomic_inc(&sk->sk_prot->h.hashinfo->bsockets);
			inet_csk(sk)->mosbench_port_core = 0;
		}
		spin_unlock(&children->lock);
	}
}
