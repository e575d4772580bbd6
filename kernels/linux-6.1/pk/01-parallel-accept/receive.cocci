// SPDX-License-Identifier: GPL-2.0-or-later
// The answer to a request: the reference that covers its handling is one of those that cores keep.

@receive_hold@
identifier sk;
@@
int tcp_v4_rcv(struct sk_buff *skb)
{
	<...
-	sock_hold(sk);
+	mosbench_listener_get(sk);
	...>
}

@receive_put depends on receive_hold@
identifier sk;
@@
int tcp_v4_rcv(struct sk_buff *skb)
{
	<...
	{
-	sock_put(sk);
+	mosbench_listener_put(sk);
	return 0;
	}
	...>
}
