// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A listening socket's backlog as one queue for each core.
 *
 * A connection is queued at the core that received the last packet of its handshake, and accept() prefers those of the core it runs
 * on: with a network card that delivers all packets of a connection to one core, that core then does everything for it. A core
 * without connections of its own takes one from another.
 *
 * Each queue has a lock of its own, which protects its list and its length. Adding happens under the listening socket's lock, so
 * closing the socket, which owns that lock, sees no connection added after it has emptied the queues. Taking needs no more than the
 * queue's lock: whoever unlinks a connection owns it. The queues live as long as the socket, so that accept(), which has a reference
 * to its file, never meets them freed.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <net/inet_connection_sock.h>
#include <net/mosbench_accept.h>
#include <net/request_sock.h>
#include <net/sock.h>
#include <net/tcp_states.h>

struct mosbench_backlog {
	spinlock_t lock;
	unsigned int length;
	struct request_sock *first, *last;
} ____cacheline_aligned_in_smp;

static struct mosbench_backlog *backlog_of(const struct request_sock_queue *queue, int cpu)
{
	return per_cpu_ptr(queue->mosbench_backlogs, cpu);
}

int mosbench_backlogs_alloc(struct request_sock_queue *queue)
{
	int cpu;

	if (queue->mosbench_backlogs) /* it has listened before */
		return 0;
	queue->mosbench_backlogs = alloc_percpu(struct mosbench_backlog);
	if (!queue->mosbench_backlogs)
		return -ENOMEM;
	for_each_possible_cpu(cpu)
		spin_lock_init(&backlog_of(queue, cpu)->lock);
	return 0;
}

void mosbench_backlogs_free(struct request_sock_queue *queue)
{
	if (likely(!queue->mosbench_backlogs))
		return;
	WARN_ON(!mosbench_backlogs_empty(queue));
	free_percpu(queue->mosbench_backlogs);
	queue->mosbench_backlogs = NULL;
}

void mosbench_backlogs_add(struct request_sock_queue *queue, struct request_sock *request)
{
	struct mosbench_backlog *here;

	request->dl_next = NULL;
	local_bh_disable();
	here = backlog_of(queue, smp_processor_id());
	spin_lock(&here->lock);
	if (here->first)
		here->last->dl_next = request;
	else
		here->first = request;
	here->last = request;
	here->length++;
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
		spin_unlock_bh(&backlog->lock);
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
	return here > limit / num_online_cpus() && mosbench_acceptq_length(listener) > limit;
}

/* The connection to accept next: of this core's queue or, in turn from the next core on, of another's. */
static struct sock *next_connection(struct request_sock_queue *queue)
{
	int here = raw_smp_processor_id(), cpu;
	struct request_sock *request = take(backlog_of(queue, here));
	struct sock *child;

	for (cpu = cpumask_next(here, cpu_possible_mask); !request && cpu < nr_cpu_ids; cpu = cpumask_next(cpu, cpu_possible_mask))
		request = take(backlog_of(queue, cpu));
	for (cpu = cpumask_first(cpu_possible_mask); !request && cpu < here; cpu = cpumask_next(cpu, cpu_possible_mask))
		request = take(backlog_of(queue, cpu));
	if (!request)
		return NULL;
	child = request->sk;
	WARN_ON(!child);
	__reqsk_free(request);
	return child;
}

/* Sleep until there is something to accept. As in inet_csk_accept(), each connection wakes one sleeper. */
static struct sock *wait_for_connection(struct sock *listener, struct request_sock_queue *queue, long patience, int *error)
{
	struct sock *child;
	DEFINE_WAIT(wait);

	for (;;) {
		prepare_to_wait_exclusive(sk_sleep(listener), &wait, TASK_INTERRUPTIBLE);
		if (mosbench_backlogs_empty(queue) && listener->sk_state == TCP_LISTEN)
			patience = schedule_timeout(patience);
		child = next_connection(queue);
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
	finish_wait(sk_sleep(listener), &wait);
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
	child = next_connection(queue);
	if (child)
		return child;
	patience = sock_rcvtimeo(listener, flags & O_NONBLOCK);
	if (!patience) {
		*error = -EAGAIN;
		return NULL;
	}
	return wait_for_connection(listener, queue, patience, error);
}
