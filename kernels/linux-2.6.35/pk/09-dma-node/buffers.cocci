// SPDX-License-Identifier: GPL-2.0-or-later
// A packet's buffer is on the node of the core that refills the ring, not on the device's. At first nowhere else: left to itself,
// the slab allocator takes what other nodes have begun to give back, and all cores meet at the lock of the node that filled the rings.

@packet@
identifier device, length, mask, node, buffer;
expression wanted, bytes, kind;
@@
__netdev_alloc_skb(struct net_device *device, unsigned int length, gfp_t mask)
{
	...
-	int node = wanted;
+	int node = mosbench_dma_node(wanted);
	...
-	buffer = __alloc_skb(bytes, mask, kind, node);
+	buffer = __alloc_skb(bytes, mosbench_dma_only_there(mask), kind, node);
+	if (mosbench_dma_not_there(buffer))
+		buffer = __alloc_skb(bytes, mask, kind, node);
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
