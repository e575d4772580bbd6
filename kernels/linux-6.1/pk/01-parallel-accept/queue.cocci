// SPDX-License-Identifier: GPL-2.0-or-later
// The primitives of a listening socket's queue, and the references that requests have to it.

@empty@
identifier queue;
@@
reqsk_queue_empty(const struct request_sock_queue *queue)
{
+	if (mosbench_accept_on(queue))
+		return mosbench_accept_empty(queue);
	return ...;
}

@remove@
identifier queue, parent, req;
statement S;
@@
reqsk_queue_remove(struct request_sock_queue *queue, struct sock *parent)
{
	struct request_sock *req;
+	if (mosbench_accept_on(queue))
+		return mosbench_accept_remove(queue);
	S
	...
}

@removed@
identifier queue, req;
statement S;
@@
reqsk_queue_removed(struct request_sock_queue *queue, const struct request_sock *req)
{
+	if (mosbench_accept_on(queue)) {
+		mosbench_requests_add(queue, -1, req->num_timeout == 0 ? -1 : 0);
+		return;
+	}
	S
	...
}

@added@
identifier queue;
statement S;
@@
reqsk_queue_added(struct request_sock_queue *queue)
{
+	if (mosbench_accept_on(queue)) {
+		mosbench_requests_add(queue, 1, 1);
+		return;
+	}
	S
	...
}

@len@
identifier queue;
@@
reqsk_queue_len(const struct request_sock_queue *queue)
{
+	if (mosbench_accept_on(queue))
+		return mosbench_requests(queue);
	return ...;
}

@len_young@
identifier queue;
@@
reqsk_queue_len_young(const struct request_sock_queue *queue)
{
+	if (mosbench_accept_on(queue))
+		return mosbench_requests_young(queue);
	return ...;
}

@hold@
identifier listener;
@@
reqsk_alloc(...)
{
	<...
-	refcount_inc_not_zero(&listener->sk_refcnt)
+	mosbench_listener_hold(listener)
	...>
}

@drop@
identifier req;
@@
__reqsk_free(struct request_sock *req)
{
	<...
-	sock_put(req->rsk_listener);
+	mosbench_listener_put(req->rsk_listener);
	...>
}

@header depends on added@
@@
#include <net/sock.h>
+#include <net/mosbench_accept.h>
