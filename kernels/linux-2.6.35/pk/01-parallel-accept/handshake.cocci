// SPDX-License-Identifier: GPL-2.0-or-later
// Handshakes are handled under a core's lock, in that core's table of half-open connections.

// include/net/inet_connection_sock.h
@removed@
identifier fn = inet_csk_reqsk_queue_removed;
identifier listener, request;
statement S;
@@
fn(struct sock *listener, struct request_sock *request)
{
	...
-	if (reqsk_queue_removed(&inet_csk(listener)->icsk_accept_queue, request) == 0) S
+	if (reqsk_queue_removed(mosbench_queue(listener), request) == 0 && mosbench_stop_timer()) S
	...
}

@added@
identifier fn = inet_csk_reqsk_queue_added;
identifier listener, timeout;
statement S;
@@
fn(struct sock *listener, const unsigned long timeout)
{
	...
-	if (reqsk_queue_added(&inet_csk(listener)->icsk_accept_queue) == 0) S
+	if (reqsk_queue_added(mosbench_queue(listener)) == 0 && mosbench_start_timer(listener)) S
	...
}

@length@
expression listener;
@@
-reqsk_queue_len(&inet_csk(listener)->icsk_accept_queue)
+mosbench_synq_length(listener)

@full@
expression listener;
@@
-reqsk_queue_is_full(&inet_csk(listener)->icsk_accept_queue)
+mosbench_synq_is_full(listener)

@young@
expression listener;
@@
-reqsk_queue_len_young(&inet_csk(listener)->icsk_accept_queue)
+reqsk_queue_len_young(mosbench_queue(listener))

@unlink@
expression listener, request, previous;
@@
-reqsk_queue_unlink(&inet_csk(listener)->icsk_accept_queue, request, previous)
+reqsk_queue_unlink(mosbench_queue(listener), request, previous)

// net/ipv4/inet_connection_sock.c
@half_open@
identifier fn =~ "^(inet_csk_search_req|inet_csk_reqsk_queue_hash_add)$";
identifier listener, socket, table;
@@
fn(struct sock *listener, ...)
{
	...
	struct inet_connection_sock *socket = inet_csk(listener);
	...
-	struct listen_sock *table = socket->icsk_accept_queue.listen_opt;
+	struct listen_sock *table = mosbench_queue(listener)->listen_opt;
	...
}

@insert@
identifier fn = inet_csk_reqsk_queue_hash_add;
identifier listener, socket;
expression hash, request, timeout;
@@
fn(struct sock *listener, ...)
{
	<...
-	reqsk_queue_hash_req(&socket->icsk_accept_queue, hash, request, timeout)
+	reqsk_queue_hash_req(mosbench_queue(listener), hash, request, timeout)
	...>
}

@prune@
identifier listener, interval, timeout, max_rto, socket, queue, table;
statement S;
@@
inet_csk_reqsk_queue_prune(struct sock *listener, const unsigned long interval, const unsigned long timeout,
			   const unsigned long max_rto)
{
	...
-	struct request_sock_queue *queue = &socket->icsk_accept_queue;
+	struct request_sock_queue *queue = mosbench_queue(listener);
	...
+	mosbench_prune(listener, interval, timeout, max_rto);
	if (table == NULL || table->qlen == 0) S
	...
}

// net/ipv4/tcp_ipv4.c
@look_up@
identifier packet, socket;
expression table, source, destination;
@@
tcp_v4_rcv(struct sk_buff *packet)
{
	...
	struct sock *socket;
+	int mosbench_counted = 1;
	<...
-	socket = __inet_lookup_skb(table, packet, source, destination);
+	socket = mosbench_lookup_skb(table, packet, source, destination, &mosbench_counted);
	...>
}

@put@
identifier packet;
expression socket;
@@
tcp_v4_rcv(struct sk_buff *packet)
{
	<...
-	sock_put(socket);
+	mosbench_put(socket, mosbench_counted);
	...>
}

@receive@
identifier packet, listener;
@@
tcp_v4_rcv(struct sk_buff *packet)
{
	<...
	packet->dev = NULL;
+	if (mosbench_receives(listener) && mosbench_receive(listener, packet)) {
+		mosbench_put(listener, mosbench_counted);
+		return 0;
+	}
	bh_lock_sock_nested(listener);
	...>
}

@receive_locked@
identifier packet, listener;
expression result;
@@
tcp_v4_rcv(struct sk_buff *packet)
{
	<...
-	result = tcp_v4_do_rcv(listener, packet);
+	result = mosbench_tcp_v4_do_rcv(listener, packet);
	...>
}

@later@
identifier protocol;
@@
struct proto protocol = {
	.backlog_rcv =
-		tcp_v4_do_rcv,
+		mosbench_tcp_v4_do_rcv,
};

@error@
identifier listener, request, previous, header, ip, sequence, packet, info;
@@
tcp_v4_err(struct sk_buff *packet, u32 info)
{
	<...
+	if (mosbench_listen_error(listener, header->dest, ip->daddr, ip->saddr, sequence))
+		goto out;
	request = inet_csk_search_req(listener, &previous, header->dest, ip->daddr, ip->saddr);
	if (!request)
		goto out;
	...
	if (sequence != tcp_rsk(request)->snt_isn) { ... }
	...>
}

// net/core/sock.c
@owner@
identifier sk, subclass;
@@
lock_sock_nested(struct sock *sk, int subclass)
{
	...
	sk->sk_lock.owned = 1;
	spin_unlock(&sk->sk_lock.slock);
+	mosbench_owned(sk);
	...
}

@charge@
identifier sk, packet;
@@
sock_wmalloc(struct sock *sk, ...)
{
	<...
-	skb_set_owner_w(packet, sk);
+	mosbench_charge(packet, sk);
	...>
}

@header depends on owner@
@@
#include <net/sock.h>
+#include <net/mosbench_accept.h>
