// SPDX-License-Identifier: GPL-2.0-or-later
// Who asks how many connections wait to be accepted.

@acceptq_full@
expression sk;
@@
-	sk_acceptq_is_full(sk)
+	mosbench_acceptq_is_full(sk)

@backlog@
expression sk;
@@
-	READ_ONCE(sk->sk_ack_backlog)
+	mosbench_ack_backlog(sk)
