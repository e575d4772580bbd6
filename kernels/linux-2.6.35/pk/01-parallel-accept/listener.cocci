// SPDX-License-Identifier: GPL-2.0-or-later
// accept() is another function; closing empties all queues; the socket's end frees them.

@accept@
identifier listener, flags, error, connection, made;
@@
inet_csk_accept(struct sock *listener, int flags, int *error)
{
	struct inet_connection_sock *connection = ...;
	struct sock *made;
	...
+	if (MOSBENCH_PARALLEL_ACCEPT)
+		return mosbench_accept(listener, flags, error);
	lock_sock(listener);
	...
}

@stop@
identifier listener;
@@
inet_csk_listen_stop(struct sock *listener)
{
	<+...
-	sk_acceptq_removed(listener);
+	mosbench_acceptq_removed(listener);
	...+>
}

@destroy@
identifier socket;
@@
inet_csk_destroy_sock(struct sock *socket)
{
	<+...
+	mosbench_backlogs_free(&inet_csk(socket)->icsk_accept_queue);
	socket->sk_prot->destroy(socket);
	...+>
}
