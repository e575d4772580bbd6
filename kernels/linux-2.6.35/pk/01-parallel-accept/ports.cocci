// SPDX-License-Identifier: GPL-2.0-or-later
// Connections own their listener's port in a list of the core that made them.

// net/ipv4/inet_hashtables.c
@create@
identifier bucket;
@@
inet_bind_bucket_create(...)
{
	<...
	bucket->num_owners = 0;
+	mosbench_bucket_init(bucket);
	...>
}

@destroy@
identifier cache, bucket;
@@
inet_bind_bucket_destroy(struct kmem_cache *cache, struct inet_bind_bucket *bucket)
{
+	if (hlist_empty(&bucket->owners))
+		mosbench_gather(bucket);
	if (hlist_empty(&bucket->owners)) { ... }
}

@put@
identifier sk;
expression table;
@@
__inet_put_port(struct sock *sk)
{
	...
+	if (mosbench_put_port(sk))
+		return;
	atomic_dec(&table->bsockets);
	...
}

@inherit@
identifier listener, child, head;
@@
__inet_inherit_port(struct sock *listener, struct sock *child)
{
	...
+	if (mosbench_inherit_port(listener, child))
+		return;
	spin_lock(&head->lock);
	...
}

@only@
expression bucket, sk;
@@
-sk_head(&bucket->owners) == sk && !sk->sk_bind_node.next
+!mosbench_has_children(bucket) && sk_head(&bucket->owners) == sk && !sk->sk_bind_node.next

// net/ipv4/inet_connection_sock.c
@conflict@
identifier sk, bucket;
statement S;
@@
inet_csk_get_port(struct sock *sk, ...)
{
	<...
+	mosbench_gather(bucket);
	if (inet_csk(sk)->icsk_af_ops->bind_conflict(sk, bucket)) S
	...>
}
