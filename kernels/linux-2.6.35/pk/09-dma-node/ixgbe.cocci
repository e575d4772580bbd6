// SPDX-License-Identifier: GPL-2.0-or-later
// The driver's own records of a queue are on the node of the core that the queue is for: queue i is served by core i.

@rings@
identifier adapter, ring, i;
@@
ixgbe_alloc_queues(struct ixgbe_adapter *adapter)
{
	<+...
	for (i = 0; ...; ...)
	{
		...
+		adapter->node = mosbench_queue_node(adapter->node, i);
		ring = kzalloc_node(..., adapter->node);
		...
	}
	...+>
}

@header depends on rings@
@@
#include <linux/types.h>
+#include <linux/mosbench_dma_node.h>
