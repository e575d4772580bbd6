// SPDX-License-Identifier: GPL-2.0-or-later
// A reference is a spare one of this core, if it has one.

@hold@
identifier dst;
@@
dst_hold(struct dst_entry *dst)
{
	...
-	WARN_ON(atomic_inc_not_zero(&dst->__refcnt) == 0);
+	WARN_ON(!mosbench_dst_take(dst) && atomic_inc_not_zero(&dst->__refcnt) == 0);
}

@hold_safe@
identifier dst;
@@
dst_hold_safe(struct dst_entry *dst)
{
-	return atomic_inc_not_zero(&dst->__refcnt);
+	return mosbench_dst_take(dst) || atomic_inc_not_zero(&dst->__refcnt);
}

@header depends on hold@
@@
#include <net/neighbour.h>
+#include <net/mosbench_dst.h>
