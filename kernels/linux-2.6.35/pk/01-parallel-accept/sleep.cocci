// SPDX-License-Identifier: GPL-2.0-or-later
// A new connection wakes who sleeps in accept() on its core.

@ready@
identifier fn =~ "_child_process$";
identifier listener;
@@
fn(struct sock *listener, ...)
{
	<+...
-	listener->sk_data_ready(listener, 0);
+	mosbench_data_ready(listener);
	...+>
}
