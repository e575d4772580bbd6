// SPDX-License-Identifier: GPL-2.0-or-later
// The same for one that comes with its first data.

@fastopen@
identifier sk;
@@
tcp_conn_request(..., struct sock *sk, ...)
{
	<...
(
-	READ_ONCE(sk->sk_data_ready)(sk)
+	mosbench_accept_ready(sk)
|
-	sk->sk_data_ready(sk)
+	mosbench_accept_ready(sk)
)
	...>
}
