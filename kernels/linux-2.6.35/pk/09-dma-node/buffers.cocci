// SPDX-License-Identifier: GPL-2.0-or-later
// A packet's buffer is on the node of the core that refills the ring, not on the device's.

@packet@
identifier device, node;
expression wanted;
@@
__netdev_alloc_skb(struct net_device *device, ...)
{
	...
-	int node = wanted;
+	int node = mosbench_dma_node(wanted);
	...
}

@page@
identifier device, node;
expression wanted;
@@
__netdev_alloc_page(struct net_device *device, ...)
{
	...
-	int node = wanted;
+	int node = mosbench_dma_node(wanted);
	...
}

@header depends on packet@
@@
#include <linux/skbuff.h>
+#include <linux/mosbench_dma_node.h>
