// SPDX-License-Identifier: GPL-2.0-or-later
// References are kept where they are released; a route that dies gets its spares back.

@release@
identifier dst;
@@
void dst_release(struct dst_entry *dst)
{
+	if (dst)
+		dst = mosbench_dst_keep(dst);
	if (dst) {
		...
	}
}

@die@
identifier dst;
@@
void dst_dev_put(struct dst_entry *dst)
{
	...
	netdev_ref_replace(...);
+	mosbench_dst_drain(dst);
}
