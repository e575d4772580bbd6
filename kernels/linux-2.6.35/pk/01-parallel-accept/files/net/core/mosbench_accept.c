// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A listening socket's backlog and its half-open connections as one queue and one table for each core.
 *
 * A SYN is handled at the core that received it: that core's table gets the half-open connection. The last packet of the handshake
 * looks there first, then in the other cores' tables; the connection is queued at the core that had it half-open, and accept()
 * takes those of the core it runs on. With a network card that delivers all packets of a connection to one core, that core then
 * does everything for it. A core without connections of its own takes one from a core that offers them: one at which nobody accepts, or
 * whose oldest has waited for OWN_TICKS. A queue is empty most of the time on a core that has nothing else to do, and short on one that is
 * about to accept; if others took what they saw there, most connections would be accepted elsewhere.
 *
 * Who finds none sleeps at the core it runs on. A new connection wakes one who sleeps at its own core. If none does and somebody accepts
 * there, a timer of the core offers it should that take too long; if nobody does, one of another core is woken, which a mask of cores that
 * may have sleepers tells without a look at each. Who wakes up looks at its own queue and at those of cores that offer theirs.
 *
 * Each core's queue and table have one lock. Whoever unlinks a connection owns it. Code that owns the socket (lock_sock(): setting
 * options, closing) excludes all cores: it waits for each core's lock after it has become the owner, and a core looks for an owner
 * after it has taken its lock; a packet then waits in the socket's backlog, as without this. Queues, tables and the socket itself live
 * for a grace period after the socket's end: a core may have found the socket just before. So a packet counts no reference to it: the
 * one that the queues hold stands for all. Nor is a SYN-ACK charged to it. Without these writes its lines stay in all caches. Where the socket's spin lock is held already (timer,
 * ICMP) cores' locks are only tried, because handling a handshake takes the lock of the socket that it makes.
 *
 * IPv6 and DCCP handle handshakes under the socket's lock, in its own table; only the backlog is the cores'.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/poll.h>
#include <linux/random.h>
#include <linux/rculist_nulls.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/topology.h>
#include <linux/wait.h>
#include <net/inet_connection_sock.h>
#include <net/inet_hashtables.h>
#include <net/ip.h>
#include <net/mosbench_accept.h>
#include <net/request_sock.h>
#include <net/sock.h>
#include <net/tcp.h>
#include <net/tcp_states.h>

/* Places in a core's table of half-open connections. */
#define ENTRIES_MIN 16
/* For so long a connection is for who accepts on its own core. */
#define OWN_TICKS 2
/* Who has called accept() on a core within that time is about to do so again. */
#define SERVED_TICKS (HZ / 10)

struct mosbench_backlog {
	spinlock_t lock;
	unsigned int length;
	struct request_sock *first, *last; /* `expires` is when it was queued */
	unsigned long accepted;            /* when somebody called accept() on this core */
	struct mosbench_backlogs *all;
	int cpu;
	struct timer_list late; /* pending where a connection waits */
	struct request_sock_queue half_open; /* its table; its queue is not used */
	wait_queue_head_t sleepers ____cacheline_aligned_in_smp; /* in accept() */
} ____cacheline_aligned_in_smp;

struct mosbench_backlogs {
	struct mosbench_backlog __percpu *cores;
	struct sock *listener; /* a reference */
	struct rcu_head rcu;
	/* Cores that may have sleepers: set by who goes to sleep, cleared by who finds none there. */
	cpumask_t sleeping ____cacheline_aligned_in_smp;
	/* Cores whose connections any core may take, cleared by who finds none there. */
	cpumask_t offering;
};

DEFINE_PER_CPU(struct request_sock_queue *, mosbench_home);
EXPORT_PER_CPU_SYMBOL(mosbench_home);

static void late(unsigned long data);

static struct mosbench_backlog *backlog_of(const struct request_sock_queue *queue, int cpu)
{
	return per_cpu_ptr(queue->mosbench_backlogs->cores, cpu);
}

static void free_backlogs(struct mosbench_backlogs *all)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		del_timer_sync(&per_cpu_ptr(all->cores, cpu)->late);
		kfree(per_cpu_ptr(all->cores, cpu)->half_open.listen_opt);
	}
	free_percpu(all->cores);
	kfree(all);
}

static void free_backlogs_later(struct rcu_head *head)
{
	struct mosbench_backlogs *all = container_of(head, struct mosbench_backlogs, rcu);
	struct sock *listener = all->listener;

	free_backlogs(all);
	sock_put(listener);
}

static struct listen_sock *new_table(unsigned int entries, u32 random, int node)
{
	struct listen_sock *table;

	table = kzalloc_node(sizeof(*table) + entries * sizeof(struct request_sock *), GFP_KERNEL, node);
	if (table) {
		table->nr_table_entries = entries;
		table->max_qlen_log = ilog2(entries);
		table->hash_rnd = random;
	}
	return table;
}

int mosbench_backlogs_alloc(struct request_sock_queue *queue, unsigned int entries)
{
	struct mosbench_backlogs *all;
	u32 random;
	int cpu;

	if (queue->mosbench_backlogs) /* it has listened before */
		return 0;
	all = kzalloc(sizeof(*all), GFP_KERNEL);
	if (!all)
		return -ENOMEM;
	all->cores = alloc_percpu(struct mosbench_backlog);
	if (!all->cores) {
		kfree(all);
		return -ENOMEM;
	}
	entries = min_t(unsigned int, entries, sysctl_max_syn_backlog);
	entries = roundup_pow_of_two(max_t(unsigned int, 2 * entries / num_possible_cpus(), ENTRIES_MIN));
	get_random_bytes(&random, sizeof(random));
	for_each_possible_cpu(cpu) {
		struct mosbench_backlog *backlog = per_cpu_ptr(all->cores, cpu);

		backlog->all = all;
		backlog->cpu = cpu;
		backlog->accepted = jiffies - SERVED_TICKS;
		setup_timer(&backlog->late, late, (unsigned long)backlog);
	}
	for_each_possible_cpu(cpu) {
		struct mosbench_backlog *backlog = per_cpu_ptr(all->cores, cpu);

		spin_lock_init(&backlog->lock);
		init_waitqueue_head(&backlog->sleepers);
		rwlock_init(&backlog->half_open.syn_wait_lock);
		backlog->half_open.listen_opt = new_table(entries, random, cpu_to_node(cpu));
		if (!backlog->half_open.listen_opt) {
			free_backlogs(all);
			return -ENOMEM;
		}
	}
	all->listener = &container_of(queue, struct inet_connection_sock, icsk_accept_queue)->icsk_inet.sk;
	sock_hold(all->listener);
	rcu_assign_pointer(queue->mosbench_backlogs, all);
	return 0;
}

void mosbench_backlogs_free_all(struct request_sock_queue *queue)
{
	struct mosbench_backlogs *all = queue->mosbench_backlogs;

	WARN_ON(!mosbench_backlogs_empty(queue));
	queue->mosbench_backlogs = NULL;
	call_rcu(&all->rcu, free_backlogs_later);
}

static void append(struct mosbench_backlog *backlog, struct request_sock *request)
{
	request->expires = jiffies;
	if (backlog->first)
		backlog->last->dl_next = request;
	else
		backlog->first = request;
	backlog->last = request;
	backlog->length++;
}

void mosbench_backlogs_add(struct request_sock_queue *queue, struct request_sock *request)
{
	struct request_sock_queue *home = percpu_read(mosbench_home);
	struct mosbench_backlog *here;

	request->dl_next = NULL;
	if (home) { /* under its lock */
		append(container_of(home, struct mosbench_backlog, half_open), request);
		return;
	}
	local_bh_disable();
	here = backlog_of(queue, smp_processor_id());
	spin_lock(&here->lock);
	append(here, request);
	spin_unlock(&here->lock);
	local_bh_enable();
}

/* The oldest connection of a queue, or NULL. A look at an empty queue takes no lock, so it leaves its line with its owner. */
static struct request_sock *take(struct mosbench_backlog *backlog)
{
	struct request_sock *request;

	if (!ACCESS_ONCE(backlog->first))
		return NULL;
	spin_lock_bh(&backlog->lock);
	request = backlog->first;
	if (request) {
		backlog->first = request->dl_next;
		backlog->length--;
	}
	spin_unlock_bh(&backlog->lock);
	return request;
}

static void forget_half_open(struct listen_sock *table)
{
	struct request_sock *request;
	unsigned int i;

	for (i = 0; table->qlen && i < table->nr_table_entries; i++) {
		while ((request = table->syn_table[i]) != NULL) {
			table->syn_table[i] = request->dl_next;
			table->qlen--;
			reqsk_free(request);
		}
	}
	WARN_ON(table->qlen);
	table->qlen_young = 0;
}

struct request_sock *mosbench_backlogs_yank(struct request_sock_queue *queue)
{
	struct request_sock *all = NULL, **end = &all;
	int cpu;

	for_each_possible_cpu(cpu) {
		struct mosbench_backlog *backlog = backlog_of(queue, cpu);

		spin_lock_bh(&backlog->lock);
		if (backlog->first) {
			*end = backlog->first;
			end = &backlog->last->dl_next;
			backlog->first = NULL;
			backlog->length = 0;
		}
		forget_half_open(backlog->half_open.listen_opt);
		spin_unlock_bh(&backlog->lock);
		wake_up_interruptible_all(&backlog->sleepers); /* it listens no longer */
	}
	return all;
}

int mosbench_backlogs_empty(struct request_sock_queue *queue)
{
	int cpu;

	for_each_possible_cpu(cpu)
		if (ACCESS_ONCE(backlog_of(queue, cpu)->first))
			return 0;
	return 1;
}

unsigned int mosbench_acceptq_length(const struct sock *listener)
{
	const struct request_sock_queue *queue = &inet_csk(listener)->icsk_accept_queue;
	unsigned int sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += ACCESS_ONCE(backlog_of(queue, cpu)->length);
	return sum;
}

/* A core that has no more than its share of the limit in its queue does not look at the others'. So the limit holds where one core
 * gets all connections, and can be exceeded by no more than the shares of all cores, which is once more the limit. */
int mosbench_acceptq_is_full(struct sock *listener)
{
	unsigned int limit = listener->sk_max_ack_backlog, here;

	here = ACCESS_ONCE(backlog_of(&inet_csk(listener)->icsk_accept_queue, raw_smp_processor_id())->length);
	return here > limit / nr_cpu_ids && mosbench_acceptq_length(listener) > limit;
}

/* A core that has none offers none. Its bit is cleared before another look: who queues sets it after that, or is seen here. */
static struct request_sock *take_of(struct mosbench_backlogs *all, int cpu)
{
	struct mosbench_backlog *backlog = per_cpu_ptr(all->cores, cpu);
	struct request_sock *request = take(backlog);

	if (request || !cpumask_test_cpu(cpu, &all->offering))
		return request;
	cpumask_clear_cpu(cpu, &all->offering);
	smp_mb__after_clear_bit();
	request = take(backlog);
	if (request)
		cpumask_set_cpu(cpu, &all->offering); /* for those behind */
	return request;
}

/* The connection to accept next: of this core's queue or, in turn from the next core on, of one that offers its own; `any`: of any. */
static struct sock *next_connection(struct request_sock_queue *queue, int any)
{
	struct mosbench_backlogs *all = queue->mosbench_backlogs;
	const struct cpumask *others = any ? cpu_possible_mask : &all->offering;
	int here = raw_smp_processor_id(), cpu;
	struct mosbench_backlog *own = backlog_of(queue, here);
	struct request_sock *request;
	struct sock *child;

	if (own->accepted != jiffies)
		own->accepted = jiffies;
	request = take_of(all, here);
	for (cpu = cpumask_next(here, others); !request && cpu < nr_cpu_ids; cpu = cpumask_next(cpu, others))
		request = take_of(all, cpu);
	for (cpu = cpumask_first(others); !request && cpu < here; cpu = cpumask_next(cpu, others))
		request = take_of(all, cpu);
	if (!request)
		return NULL;
	child = request->sk;
	WARN_ON(!child);
	__reqsk_free(request);
	return child;
}

/* Whether it woke somebody. Who was seen in the list may be gone when its lock is taken: another connection woke it, and a sleeper
 * accepts no more than one. */
static int wake_at(struct mosbench_backlog *backlog)
{
	wait_queue_head_t *sleepers = &backlog->sleepers;
	wait_queue_t *sleeper, *next;
	unsigned long flags;
	int woken = 0;

	if (!waitqueue_active(sleepers))
		return 0;
	spin_lock_irqsave(&sleepers->lock, flags);
	list_for_each_entry_safe(sleeper, next, &sleepers->task_list, task_list) {
		woken = sleeper->func(sleeper, TASK_INTERRUPTIBLE, WF_SYNC, (void *)(POLLIN | POLLRDNORM));
		if (woken)
			break;
	}
	spin_unlock_irqrestore(&sleepers->lock, flags);
	return woken;
}

static int wake_at_core(struct mosbench_backlogs *all, int cpu)
{
	struct mosbench_backlog *backlog = per_cpu_ptr(all->cores, cpu);

	if (wake_at(backlog))
		return 1;
	cpumask_clear_cpu(cpu, &all->sleeping);
	smp_mb__after_clear_bit(); /* who comes now sets it again, or is seen here */
	if (!wake_at(backlog))
		return 0;
	cpumask_set_cpu(cpu, &all->sleeping); /* for those behind */
	return 1;
}

/* Any core may take the connections of this one: one who sleeps elsewhere is woken. */
static void offer(struct mosbench_backlog *backlog)
{
	struct mosbench_backlogs *all = backlog->all;
	int here = backlog->cpu, cpu, woken = 0;

	if (!cpumask_test_cpu(here, &all->offering))
		cpumask_set_cpu(here, &all->offering);
	smp_mb(); /* who has looked before is seen asleep */
	for (cpu = cpumask_next(here, &all->sleeping); !woken && cpu < nr_cpu_ids; cpu = cpumask_next(cpu, &all->sleeping))
		woken = wake_at_core(all, cpu);
	for (cpu = cpumask_first(&all->sleeping); !woken && cpu <= here; cpu = cpumask_next(cpu, &all->sleeping))
		woken = wake_at_core(all, cpu);
}

/* The timer of a core. It goes on until the queue is empty, with one who is woken each time. */
static void late(unsigned long data)
{
	struct mosbench_backlog *backlog = (struct mosbench_backlog *)data;
	unsigned long then = jiffies + 1;
	int waits, due = 0;

	spin_lock(&backlog->lock);
	waits = backlog->first != NULL;
	if (waits) {
		due = time_after_eq(jiffies, backlog->first->expires + OWN_TICKS);
		if (!due)
			then = backlog->first->expires + OWN_TICKS;
	}
	spin_unlock(&backlog->lock);
	if (due)
		offer(backlog);
	if (waits)
		mod_timer(&backlog->late, then);
}

void mosbench_data_ready(struct sock *listener)
{
	struct request_sock_queue *queue = &inet_csk(listener)->icsk_accept_queue, *home = percpu_read(mosbench_home);
	struct mosbench_backlog *backlog;

	if (queue->mosbench_backlogs) {
		backlog = home ? container_of(home, struct mosbench_backlog, half_open) : backlog_of(queue, smp_processor_id());
		smp_mb(); /* it is in the queue: who has looked before is seen asleep */
		if (!wake_at(backlog) && time_after_eq(jiffies, ACCESS_ONCE(backlog->accepted) + SERVED_TICKS))
			offer(backlog);
		if (!timer_pending(&backlog->late))
			mod_timer(&backlog->late, jiffies + OWN_TICKS);
	}
	listener->sk_data_ready(listener, 0);
}

/* Whether next_connection() may find something at this core. */
static int may_take(struct request_sock_queue *queue, int here)
{
	return ACCESS_ONCE(backlog_of(queue, here)->first) || !cpumask_empty(&queue->mosbench_backlogs->offering);
}

/* Sleep until there is something to accept. As in inet_csk_accept(), each connection wakes one sleeper. */
static struct sock *wait_for_connection(struct sock *listener, struct request_sock_queue *queue, long patience, int *error)
{
	struct mosbench_backlogs *all = queue->mosbench_backlogs;
	struct sock *child;
	DEFINE_WAIT(wait);

	for (;;) {
		int here = raw_smp_processor_id();
		wait_queue_head_t *sleepers = &per_cpu_ptr(all->cores, here)->sleepers;

		prepare_to_wait_exclusive(sleepers, &wait, TASK_INTERRUPTIBLE);
		if (!cpumask_test_cpu(here, &all->sleeping)) {
			cpumask_set_cpu(here, &all->sleeping);
			smp_mb__after_clear_bit(); /* then it looks at the queues */
		}
		if (!may_take(queue, here) && listener->sk_state == TCP_LISTEN)
			patience = schedule_timeout(patience);
		finish_wait(sleepers, &wait); /* it may be at another core the next time */
		child = next_connection(queue, 0);
		if (child)
			break;
		*error = -EINVAL;
		if (listener->sk_state != TCP_LISTEN)
			break;
		*error = sock_intr_errno(patience);
		if (signal_pending(current))
			break;
		*error = -EAGAIN;
		if (!patience)
			break;
	}
	return child;
}

/*
 * The child may still be on its way to ESTABLISHED on the core that made it, which holds its lock until it is there. The caller,
 * inet_accept(), takes that lock before it looks.
 */
struct sock *mosbench_accept(struct sock *listener, int flags, int *error)
{
	struct request_sock_queue *queue = &inet_csk(listener)->icsk_accept_queue;
	struct sock *child;
	long patience;

	*error = -EINVAL;
	if (listener->sk_state != TCP_LISTEN)
		return NULL;
	smp_rmb(); /* the queues were made before */
	patience = sock_rcvtimeo(listener, flags & O_NONBLOCK);
	child = next_connection(queue, !patience); /* who does not wait has seen in poll() that there is one, of whatever core */
	if (child)
		return child;
	if (!patience) {
		*error = -EAGAIN;
		return NULL;
	}
	return wait_for_connection(listener, queue, patience, error);
}

/* ---- handshakes ---- */

/*
 * The listening socket of a port, if there is one and no other. All that are in the table of listening sockets have queues, and those
 * hold a reference until a grace period after the socket has left the table.
 */
static struct sock *only_listener(struct net *net, struct inet_hashinfo *table, __be32 address, unsigned short port, int device)
{
	unsigned int hash = inet_lhashfn(net, port);
	struct sock *sk, *found = NULL;
	struct hlist_nulls_node *node;
	__be32 own;

	sk_nulls_for_each_rcu(sk, node, &table->listening_hash[hash].head) {
		if (inet_sk(sk)->inet_num != port || !net_eq(sock_net(sk), net))
			continue;
		if (found)
			return NULL;
		found = sk;
	}
	/* A socket that was moved leads to another list's end. */
	if (!found || get_nulls_value(node) != hash + LISTENING_NULLS_BASE)
		return NULL;
	if (found->sk_state != TCP_LISTEN || found->sk_family != AF_INET)
		return NULL;
	if (found->sk_bound_dev_if && found->sk_bound_dev_if != device)
		return NULL;
	own = inet_sk(found)->inet_rcv_saddr;
	return own && own != address ? NULL : found;
}

struct sock *mosbench_lookup_skb(struct inet_hashinfo *table, struct sk_buff *packet, __be16 source, __be16 destination, int *counted)
{
	const struct iphdr *ip = ip_hdr(packet);
	unsigned short port = ntohs(destination);
	struct net *net;
	struct sock *sk;

	*counted = 1;
	sk = skb_steal_sock(packet);
	if (sk)
		return sk;
	net = dev_net(skb_dst(packet)->dev);
	sk = __inet_lookup_established(net, table, ip->saddr, source, ip->daddr, port, inet_iif(packet));
	if (sk)
		return sk;
	sk = only_listener(net, table, ip->daddr, port, inet_iif(packet));
	if (!sk) /* which of several, or none */
		return __inet_lookup_listener(net, table, ip->daddr, port, inet_iif(packet));
	*counted = 0;
	return sk;
}

/* Whether the table of `home`, which is locked, has what this packet belongs to. A client that changed cores between two SYNs is
 * half-open twice; only one of them knows the sequence number that the client acknowledges. */
static int known(struct sock *listener, struct request_sock_queue *home, const struct sk_buff *packet)
{
	const struct tcphdr *header = tcp_hdr(packet);
	const struct iphdr *ip = ip_hdr(packet);
	struct request_sock *request, **previous;

	if (!home->listen_opt->qlen)
		return 0;
	request = inet_csk_search_req(listener, &previous, header->source, ip->saddr, ip->daddr);
	return request && (!header->ack || TCP_SKB_CB(packet)->ack_seq ==
						   tcp_rsk(request)->snt_isn + 1 + tcp_s_data_size(tcp_sk(listener)));
}

enum { NOT_NOW = -1, UNKNOWN, HANDLED };

/* Handle a packet among the handshakes of core `cpu`. */
static int handle_at(struct sock *listener, struct mosbench_backlogs *all, int cpu, struct sk_buff *packet, int only_known, int owner)
{
	struct mosbench_backlog *backlog = per_cpu_ptr(all->cores, cpu);
	int done = UNKNOWN;

	spin_lock(&backlog->lock);
	if (listener->sk_state != TCP_LISTEN || (!owner && sock_owned_by_user(listener))) {
		spin_unlock(&backlog->lock);
		return NOT_NOW;
	}
	percpu_write(mosbench_home, &backlog->half_open);
	if (!only_known || known(listener, &backlog->half_open, packet)) {
		tcp_v4_do_rcv(listener, packet);
		done = HANDLED;
	}
	percpu_write(mosbench_home, NULL);
	spin_unlock(&backlog->lock);
	return done;
}

static int handle(struct sock *listener, struct sk_buff *packet, int owner)
{
	struct mosbench_backlogs *all = rcu_dereference(inet_csk(listener)->icsk_accept_queue.mosbench_backlogs);
	const struct tcphdr *header = tcp_hdr(packet);
	int here = smp_processor_id(), cpu, done = UNKNOWN;

	/* IPv6 has packets of IPv4 too, under the socket's lock. */
	if (!all || listener->sk_family != AF_INET)
		return NOT_NOW;
	if (!header->syn || header->ack) {
		done = handle_at(listener, all, here, packet, 1, owner);
		for_each_possible_cpu(cpu) {
			if (done != UNKNOWN)
				break;
			if (cpu != here && ACCESS_ONCE(per_cpu_ptr(all->cores, cpu)->half_open.listen_opt->qlen))
				done = handle_at(listener, all, cpu, packet, 1, owner);
		}
	}
	if (done == UNKNOWN)
		done = handle_at(listener, all, here, packet, 0, owner);
	return done;
}

int mosbench_receive(struct sock *listener, struct sk_buff *packet)
{
	return handle(listener, packet, 0) == HANDLED;
}

/* Packets from the backlog, with the owner; and one that found an owner who was gone when it had got the lock. Softirqs are off. */
int mosbench_tcp_v4_do_rcv(struct sock *sk, struct sk_buff *packet)
{
	if (sk->sk_state == TCP_LISTEN) {
		int done;

		rcu_read_lock();
		done = handle(sk, packet, 1);
		rcu_read_unlock();
		if (done == HANDLED)
			return 0;
	}
	return tcp_v4_do_rcv(sk, packet);
}

void mosbench_listener_wait(struct sock *listener)
{
	struct mosbench_backlogs *all = inet_csk(listener)->icsk_accept_queue.mosbench_backlogs;
	int cpu;

	if (!all)
		return;
	for_each_possible_cpu(cpu) {
		struct mosbench_backlog *backlog = per_cpu_ptr(all->cores, cpu);

		spin_lock(&backlog->lock);
		spin_unlock(&backlog->lock);
	}
}

int mosbench_listen_error(struct sock *listener, __be16 port, __be32 peer, __be32 own, u32 sequence)
{
	struct mosbench_backlogs *all = inet_csk(listener)->icsk_accept_queue.mosbench_backlogs;
	struct request_sock *request, **previous;
	int cpu, found = 0;

	if (!all)
		return 0;
	for_each_possible_cpu(cpu) {
		struct mosbench_backlog *backlog = per_cpu_ptr(all->cores, cpu);

		/* A core that is busy keeps its half-open connection: it expires, as if the ICMP packet had been lost. */
		if (found || !ACCESS_ONCE(backlog->half_open.listen_opt->qlen) || !spin_trylock(&backlog->lock))
			continue;
		percpu_write(mosbench_home, &backlog->half_open);
		request = inet_csk_search_req(listener, &previous, port, peer, own);
		if (request && sequence == tcp_rsk(request)->snt_isn) {
			found = 1;
			inet_csk_reqsk_queue_drop(listener, request, previous);
		}
		percpu_write(mosbench_home, NULL);
		spin_unlock(&backlog->lock);
	}
	return found;
}

void mosbench_prune(struct sock *listener, unsigned long interval, unsigned long timeout, unsigned long max_rto)
{
	struct request_sock_queue *queue = &inet_csk(listener)->icsk_accept_queue;
	int cpu, busy = 0;

	if (!queue->mosbench_backlogs || percpu_read(mosbench_home))
		return;
	for_each_possible_cpu(cpu) {
		struct mosbench_backlog *backlog = backlog_of(queue, cpu);

		if (!ACCESS_ONCE(backlog->half_open.listen_opt->qlen))
			continue;
		if (!spin_trylock(&backlog->lock)) {
			busy = 1;
			continue;
		}
		percpu_write(mosbench_home, &backlog->half_open);
		backlog->half_open.rskq_defer_accept = queue->rskq_defer_accept;
		inet_csk_reqsk_queue_prune(listener, interval, timeout, max_rto);
		percpu_write(mosbench_home, NULL);
		spin_unlock(&backlog->lock);
	}
	if (busy)
		inet_csk_reset_keepalive_timer(listener, interval);
}

/* Either the timer, which is not pending while it runs, sees this half-open connection, or this sees that it is not pending. */
int mosbench_start_timer(const struct sock *listener)
{
	if (!percpu_read(mosbench_home))
		return 1;
	smp_mb();
	return !timer_pending(&listener->sk_timer);
}

/* As with the backlog, a core with no more than its share of the limit does not look at the others. */
int mosbench_synq_length(const struct sock *listener)
{
	const struct request_sock_queue *queue = &inet_csk(listener)->icsk_accept_queue, *home = percpu_read(mosbench_home);
	int sum, cpu;

	if (!home)
		return reqsk_queue_len(queue);
	sum = home->listen_opt->qlen;
	if (sum <= (1 << queue->listen_opt->max_qlen_log) / nr_cpu_ids)
		return sum;
	sum = queue->listen_opt->qlen;
	for_each_possible_cpu(cpu)
		sum += ACCESS_ONCE(backlog_of(queue, cpu)->half_open.listen_opt->qlen);
	return sum;
}

int mosbench_synq_is_full(const struct sock *listener)
{
	return mosbench_synq_length(listener) >> inet_csk(listener)->icsk_accept_queue.listen_opt->max_qlen_log;
}
