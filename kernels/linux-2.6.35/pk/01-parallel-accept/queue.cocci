// SPDX-License-Identifier: GPL-2.0-or-later
// The queue of connections that wait to be accepted is one for each core.

@yank@
identifier queue, request;
@@
reqsk_queue_yank_acceptq(struct request_sock_queue *queue)
{
	struct request_sock *request = ...;
+
+	if (MOSBENCH_PARALLEL_ACCEPT)
+		return mosbench_backlogs_yank(queue);
	...
}

@empty@
identifier queue;
@@
reqsk_queue_empty(struct request_sock_queue *queue)
{
+	if (MOSBENCH_PARALLEL_ACCEPT)
+		return mosbench_backlogs_empty(queue);
	return ...;
}

@add@
identifier queue, request, parent, child;
@@
reqsk_queue_add(struct request_sock_queue *queue, struct request_sock *request, struct sock *parent, struct sock *child)
{
	request->sk = child;
+	if (MOSBENCH_PARALLEL_ACCEPT) {
+		mosbench_backlogs_add(queue, request);
+		return;
+	}
	sk_acceptq_added(parent);
	...
}

@header depends on add@
@@
#include <net/sock.h>
+#include <net/mosbench_accept.h>
