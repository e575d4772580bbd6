// SPDX-License-Identifier: GPL-2.0-or-later
// The queues go with the memory of the socket.

@destruct@
identifier sk;
@@
void inet_sock_destruct(struct sock *sk)
{
	...
	sk_mem_reclaim_final(sk);
+	mosbench_accept_free(sk);
	...
}
