// SPDX-License-Identifier: GPL-2.0-or-later
// The route that a socket remembers.

@remembered@
identifier dst;
@@
sk_dst_get(...)
{
	<...
-	!atomic_inc_not_zero(&dst->__refcnt)
+	!mosbench_dst_take(dst) && !atomic_inc_not_zero(&dst->__refcnt)
	...>
}
