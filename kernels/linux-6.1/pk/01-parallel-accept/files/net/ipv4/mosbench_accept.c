// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Accept queues per core of one listening socket.
 *
 * A connection is queued on the core that completes it and accepted there if possible; a core without one steals from the next
 * that has some, and only a core that finds none anywhere waits, in the socket's wait queue as before. accept() does not lock the
 * socket: a queue's lock covers its list, and a connection belongs to who takes it off.
 *
 * Numbers of connections and requests are approximate counters, compared exactly when they are near their limit. References that
 * requests have to the socket are kept by cores (mosbench_spares.h) as long as it listens.
 */
#include <linux/mosbench_spares.h>
#include <linux/percpu.h>
#include <linux/percpu_counter.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/tcp.h>
#include <net/inet_connection_sock.h>
#include <net/mosbench_accept.h>
#include <net/sock.h>

struct mosbench_accept_core {
	spinlock_t lock;
	struct request_sock *head, *tail;
} ____cacheline_aligned_in_smp;

struct mosbench_accept {
	struct mosbench_accept_core __percpu *cores;
	int batch; /* of the counters: what one core may be off */
	struct percpu_counter connections, requests, young;
};

static DEFINE_PER_CPU_ALIGNED(struct mosbench_spares, listener_spares);

static struct mosbench_accept *accept_of(const struct sock *sk)
{
	return inet_csk(sk)->icsk_accept_queue.mosbench;
}

/* All cores together may be off by half the limit, or by what keeps the cores from folding each change into the sum. */
static int batch_for(const struct sock *sk)
{
	return clamp_t(int, READ_ONCE(sk->sk_max_ack_backlog) / (2 * num_possible_cpus()), 2, 16);
}

int mosbench_accept_start(struct sock *sk)
{
	struct request_sock_queue *queue = &inet_csk(sk)->icsk_accept_queue;
	struct mosbench_accept *accept = queue->mosbench;
	int cpu;

	if (sk->sk_protocol != IPPROTO_TCP)
		return 0;
	if (accept) { /* it has listened before */
		accept->batch = batch_for(sk);
		return 0;
	}
	accept = kzalloc(sizeof(*accept), GFP_KERNEL);
	if (!accept)
		return -ENOMEM;
	accept->batch = batch_for(sk);
	accept->cores = alloc_percpu(struct mosbench_accept_core);
	if (!accept->cores)
		goto no_cores;
	if (percpu_counter_init(&accept->connections, 0, GFP_KERNEL))
		goto no_connections;
	if (percpu_counter_init(&accept->requests, 0, GFP_KERNEL))
		goto no_requests;
	if (percpu_counter_init(&accept->young, 0, GFP_KERNEL))
		goto no_young;
	for_each_possible_cpu(cpu)
		spin_lock_init(&per_cpu_ptr(accept->cores, cpu)->lock);
	queue->mosbench = accept;
	return 0;

no_young:
	percpu_counter_destroy(&accept->requests);
no_requests:
	percpu_counter_destroy(&accept->connections);
no_connections:
	free_percpu(accept->cores);
no_cores:
	kfree(accept);
	return -ENOMEM;
}

void mosbench_accept_free(struct sock *sk)
{
	struct mosbench_accept *accept;

	if (sk->sk_type != SOCK_STREAM || sk->sk_protocol != IPPROTO_TCP)
		return;
	accept = accept_of(sk);
	if (!accept)
		return;
	inet_csk(sk)->icsk_accept_queue.mosbench = NULL;
	percpu_counter_destroy(&accept->young);
	percpu_counter_destroy(&accept->requests);
	percpu_counter_destroy(&accept->connections);
	free_percpu(accept->cores);
	kfree(accept);
}

/* ---- the queues ---- */

bool mosbench_accept_add(struct sock *sk, struct request_sock *req, struct sock *child)
{
	struct mosbench_accept *accept = accept_of(sk);
	struct mosbench_accept_core *core = this_cpu_ptr(accept->cores);
	bool listening;

	spin_lock(&core->lock);
	/* Under the lock: who stops the socket changes the state first and empties the queues then. */
	listening = READ_ONCE(sk->sk_state) == TCP_LISTEN;
	if (listening) {
		req->sk = child;
		req->dl_next = NULL;
		if (core->head)
			core->tail->dl_next = req;
		else
			WRITE_ONCE(core->head, req);
		core->tail = req;
		percpu_counter_add_batch(&accept->connections, 1, accept->batch);
	}
	spin_unlock(&core->lock);
	return listening;
}

static struct request_sock *take_from(struct mosbench_accept *accept, struct mosbench_accept_core *core)
{
	struct request_sock *req;

	spin_lock_bh(&core->lock);
	req = core->head;
	if (req) {
		WRITE_ONCE(core->head, req->dl_next);
		if (!req->dl_next)
			core->tail = NULL;
		percpu_counter_add_batch(&accept->connections, -1, accept->batch);
	}
	spin_unlock_bh(&core->lock);
	return req;
}

/* The queues of cores that are offline are looked at too: what was queued there is not lost. */
static struct request_sock *take(struct mosbench_accept *accept)
{
	struct request_sock *req;
	int cpu;

	for_each_cpu_wrap(cpu, cpu_possible_mask, raw_smp_processor_id()) {
		struct mosbench_accept_core *core = per_cpu_ptr(accept->cores, cpu);

		if (!READ_ONCE(core->head))
			continue;
		req = take_from(accept, core);
		if (req)
			return req;
	}
	return NULL;
}

struct request_sock *mosbench_accept_next(struct sock *sk, int flags, int *error)
{
	struct mosbench_accept *accept = accept_of(sk);
	long patience = sock_rcvtimeo(sk, flags & O_NONBLOCK);
	struct request_sock *req = take(accept);
	DEFINE_WAIT(wait);

	if (req)
		return req;
	*error = -EAGAIN;
	if (!patience)
		return NULL;
	for (;;) {
		/* Who adds a connection does so before it looks for somebody to wake: one of both sees the other. */
		prepare_to_wait_exclusive(sk_sleep(sk), &wait, TASK_INTERRUPTIBLE);
		req = take(accept);
		if (req)
			break;
		*error = -EINVAL;
		if (READ_ONCE(sk->sk_state) != TCP_LISTEN)
			break;
		*error = sock_intr_errno(patience);
		if (signal_pending(current))
			break;
		*error = -EAGAIN;
		if (!patience)
			break;
		patience = schedule_timeout(patience);
	}
	finish_wait(sk_sleep(sk), &wait);
	return req;
}

struct request_sock *mosbench_accept_remove(struct request_sock_queue *queue)
{
	struct request_sock *req = NULL;
	int cpu;

	for_each_possible_cpu(cpu) {
		req = take_from(queue->mosbench, per_cpu_ptr(queue->mosbench->cores, cpu));
		if (req)
			break;
	}
	return req;
}

bool mosbench_accept_empty(const struct request_sock_queue *queue)
{
	int cpu;

	for_each_cpu_wrap(cpu, cpu_possible_mask, raw_smp_processor_id())
		if (READ_ONCE(per_cpu_ptr(queue->mosbench->cores, cpu)->head))
			return false;
	return true;
}

/* ---- numbers ---- */

static bool more_than(struct percpu_counter *counter, s64 limit, int batch)
{
	return __percpu_counter_compare(counter, limit, batch) > 0;
}

bool mosbench_acceptq_is_full(const struct sock *sk)
{
	struct mosbench_accept *accept = accept_of(sk);

	if (!accept)
		return sk_acceptq_is_full(sk);
	return more_than(&accept->connections, READ_ONCE(sk->sk_max_ack_backlog), accept->batch);
}

unsigned int mosbench_ack_backlog(const struct sock *sk)
{
	struct mosbench_accept *accept = accept_of(sk);

	return accept ? percpu_counter_sum_positive(&accept->connections) : READ_ONCE(sk->sk_ack_backlog);
}

void mosbench_requests_add(struct request_sock_queue *queue, int number, int young)
{
	struct mosbench_accept *accept = queue->mosbench;

	if (number)
		percpu_counter_add_batch(&accept->requests, number, accept->batch);
	if (young)
		percpu_counter_add_batch(&accept->young, young, accept->batch);
}

int mosbench_requests(const struct request_sock_queue *queue)
{
	return percpu_counter_sum(&queue->mosbench->requests);
}

int mosbench_requests_young(const struct request_sock_queue *queue)
{
	return percpu_counter_sum(&queue->mosbench->young);
}

bool mosbench_requests_full(const struct sock *sk)
{
	struct mosbench_accept *accept = accept_of(sk);

	return more_than(&accept->requests, READ_ONCE(sk->sk_max_ack_backlog), accept->batch);
}

/* ---- references ---- */

bool mosbench_listener_hold(struct sock *sk)
{
	return mosbench_spare_take(&listener_spares, sk) || refcount_inc_not_zero(&sk->sk_refcnt);
}

void mosbench_listener_get(struct sock *sk)
{
	if (!mosbench_spare_take(&listener_spares, sk))
		sock_hold(sk);
}

/* Drop @number references, at least one. */
static void put_all(struct sock *sk, unsigned int number)
{
	if (refcount_sub_and_test(number, &sk->sk_refcnt))
		sk_free(sk);
}

/* The first spares of a socket on this core, as long as it listens; else the reference is dropped. */
static void claim(struct sock *sk)
{
	unsigned int number = 0;
	void *evicted;

	/* Once kept, a reference is anybody's; the memory of a socket that has listened is freed after a grace period. */
	rcu_read_lock();
	if (READ_ONCE(sk->sk_state) != TCP_LISTEN || !sock_flag(sk, SOCK_RCU_FREE)) {
		put_all(sk, 1);
	} else {
		sock_hold(sk);
		if (!mosbench_spare_claim(&listener_spares, sk, &evicted, &number))
			put_all(sk, 2);
		if (number)
			put_all(evicted, number);
		/* Closed meanwhile: either its drain has seen the spares or this sees the state. */
		number = READ_ONCE(sk->sk_state) != TCP_LISTEN ? mosbench_spare_drain(&listener_spares, sk) : 0;
		if (number)
			put_all(sk, number);
	}
	rcu_read_unlock();
}

void mosbench_listener_put(struct sock *sk)
{
	if (!mosbench_spare_keep(&listener_spares, sk))
		claim(sk);
}

void mosbench_accept_stop(struct sock *sk)
{
	unsigned int number = mosbench_spare_drain(&listener_spares, sk);

	/* The caller has a reference. */
	if (number)
		WARN_ON_ONCE(refcount_sub_and_test(number, &sk->sk_refcnt));
}
