// SPDX-License-Identifier: GPL-2.0-or-later
// The question whether there are too many requests.

@requests_full@
identifier sk;
@@
inet_csk_reqsk_queue_is_full(const struct sock *sk)
{
+	if (mosbench_accept_on(&inet_csk(sk)->icsk_accept_queue))
+		return mosbench_requests_full(sk);
	return ...;
}
