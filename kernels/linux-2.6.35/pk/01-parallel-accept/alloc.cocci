// SPDX-License-Identifier: GPL-2.0-or-later
// A socket that begins to listen gets the queues; they stay until it is destroyed.

@allocate@
identifier queue, entries, bytes, table;
@@
reqsk_queue_alloc(struct request_sock_queue *queue, unsigned int entries)
{
	size_t bytes = ...;
	struct listen_sock *table;
+
+	if (mosbench_backlogs_alloc(queue, entries) < 0)
+		return -ENOMEM;
	...
}
