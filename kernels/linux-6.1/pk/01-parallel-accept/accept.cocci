// SPDX-License-Identifier: GPL-2.0-or-later
// accept() takes from the cores' queues without the socket's lock; connections are added on the core that completes them.

@lock@
identifier sk, flags;
@@
inet_csk_accept(struct sock *sk, int flags, ...)
{
	<...
-	lock_sock(sk);
+	mosbench_accept_lock(sk);
	...>
}

@unlock@
identifier sk, flags;
@@
inet_csk_accept(struct sock *sk, int flags, ...)
{
	<...
-	release_sock(sk);
+	mosbench_accept_unlock(sk);
	...>
}

@wait@
identifier sk, flags, queue;
@@
inet_csk_accept(struct sock *sk, int flags, ...)
{
	<...
-	reqsk_queue_empty(queue)
+	!mosbench_accept_on(queue) && reqsk_queue_empty(queue)
	...>
}

@next@
identifier sk, flags, queue, req;
@@
inet_csk_accept(struct sock *sk, int flags, ...)
{
	<...
-	req = reqsk_queue_remove(queue, sk);
+	if (mosbench_accept_on(queue)) {
+		req = mosbench_accept_next(sk, flags, &error);
+		if (!req)
+			goto out_err;
+	} else
+		req = reqsk_queue_remove(queue, sk);
	...>
}

@add@
identifier sk, req, child, queue;
@@
inet_csk_reqsk_queue_add(struct sock *sk, struct request_sock *req, struct sock *child)
{
	struct request_sock_queue *queue = ...;
+	if (mosbench_accept_on(queue)) {
+		if (mosbench_accept_add(sk, req, child))
+			return child;
+		inet_child_forget(sk, req, child);
+		return NULL;
+	}
	spin_lock(&queue->rskq_lock);
	...
}

@start@
identifier sk, icsk;
@@
int inet_csk_listen_start(struct sock *sk)
{
	...
	reqsk_queue_alloc(&icsk->icsk_accept_queue);
+	err = mosbench_accept_start(sk);
+	if (err)
+		return err;
	...
}

@stop@
identifier sk;
@@
void inet_csk_listen_stop(struct sock *sk)
{
	...
+	mosbench_accept_stop(sk);
	WARN_ON_ONCE(sk->sk_ack_backlog);
}

@migrated@
identifier queue, req;
statement S;
@@
reqsk_queue_migrated(struct request_sock_queue *queue, const struct request_sock *req)
{
+	if (mosbench_accept_on(queue)) {
+		mosbench_requests_add(queue, 1, req->num_timeout == 0 ? 1 : 0);
+		return;
+	}
	S
	...
}

@aged@
identifier queue;
@@
reqsk_timer_handler(...)
{
	<...
-	atomic_dec(&queue->young);
+	mosbench_request_aged(queue);
	...>
}
