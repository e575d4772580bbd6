// SPDX-License-Identifier: GPL-2.0-or-later
// Descriptor rings and whatever else a driver shares with its device all the time.

@coherent@
expression device, flags, order;
@@
-alloc_pages_node(dev_to_node(device), flags, order)
+alloc_pages_node(mosbench_dma_node(dev_to_node(device)), flags, order)

@header depends on coherent@
@@
#include <linux/pci.h>
+#include <linux/mosbench_dma_node.h>
