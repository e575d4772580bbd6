// SPDX-License-Identifier: GPL-2.0-or-later
// How many packets a poll found sent through IPsec: nearly always none.

@transmitted@
expression adapter, packets;
@@
-adapter->tx_ipsec += packets;
+mosbench_add_some(&adapter->tx_ipsec, packets);

@header depends on transmitted@
@@
#include "ixgbe.h"
+#include <linux/mosbench_driver_counters.h>
