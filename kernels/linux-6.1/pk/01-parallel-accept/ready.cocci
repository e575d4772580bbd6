// SPDX-License-Identifier: GPL-2.0-or-later
// A connection wakes one who sleeps in accept() at its core.

@ready@
expression sk;
@@
(
-	READ_ONCE(sk->sk_data_ready)(sk)
+	mosbench_accept_ready(sk)
|
-	sk->sk_data_ready(sk)
+	mosbench_accept_ready(sk)
)
