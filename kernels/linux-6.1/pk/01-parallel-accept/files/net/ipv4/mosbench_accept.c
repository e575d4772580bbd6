// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Accept queues per core of one listening socket.
 *
 * A connection is queued on the core that completes it, and accepted there. A core without any takes one from a core that offers its
 * own: one at which nobody accepts, or whose oldest connection has waited for OWN_TICKS. A queue is empty most of the time on a core that
 * has nothing else to do, and short on one that is about to accept; if others took what they saw there, most connections would be
 * accepted elsewhere. accept() does not lock the socket: a queue's lock covers its list, and a connection belongs to who takes it off.
 *
 * Who finds none sleeps at the core it runs on. A connection wakes one who sleeps at its own core. If none does and somebody accepts
 * there, a timer of the core offers it should that take too long; if nobody does, one of another core is woken, which a mask of cores
 * that may have sleepers tells without a look at each.
 *
 * Numbers of connections and requests are approximate counters, compared exactly when they are near their limit. References that
 * requests have to the socket are kept by cores (mosbench_spares.h) as long as it listens.
 */
#include <linux/cpumask.h>
#include <linux/jiffies.h>
#include <linux/mosbench_spares.h>
#include <linux/percpu.h>
#include <linux/percpu_counter.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/tcp.h>
#include <linux/timer.h>
#include <linux/wait.h>
#include <net/inet_connection_sock.h>
#include <net/mosbench_accept.h>
#include <net/sock.h>

/* For so long a connection is for who accepts on its own core. */
#define OWN_TICKS 2
/* Who has called accept() on a core within that time is about to do so again. */
#define SERVED_TICKS (HZ / 10)

struct mosbench_accept_core {
	spinlock_t lock;
	struct request_sock *head, *tail;
	unsigned long accepted; /* when somebody called accept() on this core */
	struct mosbench_accept *accept;
	int cpu;
	struct timer_list late; /* pending where a connection waits */
	wait_queue_head_t sleepers ____cacheline_aligned_in_smp; /* in accept() */
} ____cacheline_aligned_in_smp;

struct mosbench_accept {
	struct mosbench_accept_core __percpu *cores;
	int batch; /* of the counters: what one core may be off */
	struct percpu_counter connections, requests, young;
	/* Cores that may have sleepers: set by who goes to sleep, cleared by who finds none there. */
	cpumask_t sleeping ____cacheline_aligned_in_smp;
	/* Cores whose connections any core may take, cleared by who finds none there. */
	cpumask_t offering;
};

static void late(struct timer_list *timer);

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
	for_each_possible_cpu(cpu) {
		struct mosbench_accept_core *core = per_cpu_ptr(accept->cores, cpu);

		spin_lock_init(&core->lock);
		init_waitqueue_head(&core->sleepers);
		timer_setup(&core->late, late, TIMER_PINNED);
		core->accepted = jiffies - SERVED_TICKS;
		core->accept = accept;
		core->cpu = cpu;
	}
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
	int cpu;

	if (sk->sk_type != SOCK_STREAM || sk->sk_protocol != IPPROTO_TCP)
		return;
	accept = accept_of(sk);
	if (!accept)
		return;
	inet_csk(sk)->icsk_accept_queue.mosbench = NULL;
	for_each_possible_cpu(cpu)
		del_timer_sync(&per_cpu_ptr(accept->cores, cpu)->late);
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
		req->mosbench_queued = jiffies;
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

/* A queue's oldest connection, looked for under its lock. */
static struct request_sock *take_locked(struct mosbench_accept *accept, struct mosbench_accept_core *core)
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

/* A look at an empty queue takes no lock, so it leaves its line with its owner. */
static struct request_sock *take_seen(struct mosbench_accept *accept, struct mosbench_accept_core *core)
{
	return READ_ONCE(core->head) ? take_locked(accept, core) : NULL;
}

/* A core that has none offers none. Its bit is cleared before another look: who queues sets it after that, or is seen here. */
static struct request_sock *take_from(struct mosbench_accept *accept, int cpu)
{
	struct mosbench_accept_core *core = per_cpu_ptr(accept->cores, cpu);
	struct request_sock *req = take_seen(accept, core);

	if (req || !cpumask_test_cpu(cpu, &accept->offering))
		return req;
	cpumask_clear_cpu(cpu, &accept->offering);
	smp_mb__after_atomic();
	req = take_seen(accept, core);
	if (req)
		cpumask_set_cpu(cpu, &accept->offering); /* for those behind */
	return req;
}

/*
 * The connection to accept next: of this core's queue or, in turn from the next core on, of one that offers its own; @any: of any.
 * Those of a core that is offline are offered by its timer, which another core has then.
 */
static struct request_sock *take(struct mosbench_accept *accept, bool any)
{
	const struct cpumask *others = any ? cpu_possible_mask : &accept->offering;
	int here = raw_smp_processor_id(), cpu;
	struct mosbench_accept_core *own = per_cpu_ptr(accept->cores, here);
	struct request_sock *req;

	if (READ_ONCE(own->accepted) != jiffies)
		WRITE_ONCE(own->accepted, jiffies);
	req = take_from(accept, here);
	if (req)
		return req;
	for_each_cpu_wrap(cpu, others, here) {
		req = take_from(accept, cpu);
		if (req)
			return req;
	}
	return NULL;
}

/* ---- who waits for connections ---- */

/* @woken, a bool, is told that somebody woke up. */
static int wake_sleeper(struct wait_queue_entry *sleeper, unsigned int mode, int flags, void *woken)
{
	if (autoremove_wake_function(sleeper, mode, flags, NULL) <= 0)
		return 0;
	if (woken)
		*(bool *)woken = true;
	return 1;
}

/* Whether it woke somebody. Who was seen in the list may be gone when its lock is taken: another connection woke it, and a sleeper
 * accepts no more than one. */
static bool wake_at(struct mosbench_accept_core *core)
{
	bool woken = false;

	if (waitqueue_active(&core->sleepers))
		__wake_up_sync_key(&core->sleepers, TASK_INTERRUPTIBLE, &woken);
	return woken;
}

static bool wake_at_core(struct mosbench_accept *accept, int cpu)
{
	struct mosbench_accept_core *core = per_cpu_ptr(accept->cores, cpu);

	if (wake_at(core))
		return true;
	cpumask_clear_cpu(cpu, &accept->sleeping);
	smp_mb__after_atomic(); /* who comes now sets it again, or is seen here */
	if (!wake_at(core))
		return false;
	cpumask_set_cpu(cpu, &accept->sleeping); /* for those behind */
	return true;
}

/* Any core may take the connections of this one: one who sleeps elsewhere is woken. */
static void offer(struct mosbench_accept_core *core)
{
	struct mosbench_accept *accept = core->accept;
	int cpu;

	if (!cpumask_test_cpu(core->cpu, &accept->offering))
		cpumask_set_cpu(core->cpu, &accept->offering);
	smp_mb(); /* who has looked before is seen asleep */
	for_each_cpu_wrap(cpu, &accept->sleeping, core->cpu)
		if (wake_at_core(accept, cpu))
			return;
}

/* The timer of a core. It goes on until the queue is empty, with one who is woken each time. */
static void late(struct timer_list *timer)
{
	struct mosbench_accept_core *core = from_timer(core, timer, late);
	unsigned long now = jiffies, then = now + 1;
	bool waits, due = false;

	spin_lock(&core->lock);
	waits = core->head != NULL;
	if (waits) {
		due = time_after_eq(now, core->head->mosbench_queued + OWN_TICKS);
		if (!due)
			then = core->head->mosbench_queued + OWN_TICKS;
	}
	spin_unlock(&core->lock);
	if (due)
		offer(core);
	if (waits)
		mod_timer(&core->late, then);
}

void mosbench_accept_ready(struct sock *sk)
{
	struct mosbench_accept *accept = accept_of(sk);
	struct mosbench_accept_core *core;

	if (accept) {
		core = this_cpu_ptr(accept->cores);
		smp_mb(); /* it is in the queue: who has looked before is seen asleep */
		if (!wake_at(core) && time_after_eq(jiffies, READ_ONCE(core->accepted) + SERVED_TICKS))
			offer(core);
		if (!timer_pending(&core->late))
			mod_timer(&core->late, jiffies + OWN_TICKS);
	}
	READ_ONCE(sk->sk_data_ready)(sk); /* who polls */
}

/* Whether take() may find something at this core. */
static bool may_take(struct mosbench_accept *accept, const struct mosbench_accept_core *core)
{
	return READ_ONCE(core->head) || !cpumask_empty(&accept->offering);
}

struct request_sock *mosbench_accept_next(struct sock *sk, int flags, int *error)
{
	struct mosbench_accept *accept = accept_of(sk);
	long patience = sock_rcvtimeo(sk, flags & O_NONBLOCK);
	/* Who does not wait has seen in poll() that there is one, of whatever core. */
	struct request_sock *req = take(accept, !patience);
	DEFINE_WAIT_FUNC(wait, wake_sleeper);

	if (req)
		return req;
	*error = -EAGAIN;
	if (!patience)
		return NULL;
	for (;;) {
		int here = raw_smp_processor_id();
		struct mosbench_accept_core *core = per_cpu_ptr(accept->cores, here);

		/* Who adds a connection does so before it looks for somebody to wake: one of both sees the other. */
		prepare_to_wait_exclusive(&core->sleepers, &wait, TASK_INTERRUPTIBLE);
		if (!cpumask_test_cpu(here, &accept->sleeping)) {
			cpumask_set_cpu(here, &accept->sleeping);
			smp_mb__after_atomic(); /* then it looks at the queues */
		}
		if (!may_take(accept, core) && READ_ONCE(sk->sk_state) == TCP_LISTEN)
			patience = schedule_timeout(patience);
		finish_wait(&core->sleepers, &wait); /* it may be at another core the next time */
		req = take(accept, false);
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
	}
	return req;
}

struct request_sock *mosbench_accept_remove(struct request_sock_queue *queue)
{
	struct request_sock *req = NULL;
	int cpu;

	for_each_possible_cpu(cpu) {
		req = take_locked(queue->mosbench, per_cpu_ptr(queue->mosbench->cores, cpu));
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
	struct mosbench_accept *accept = accept_of(sk);
	int cpu;

	/* The caller has a reference. */
	if (number)
		WARN_ON_ONCE(refcount_sub_and_test(number, &sk->sk_refcnt));
	if (!accept)
		return;
	for_each_possible_cpu(cpu)
		wake_up_interruptible_all(&per_cpu_ptr(accept->cores, cpu)->sleepers);
}
