// SPDX-License-Identifier: GPL-2.0-or-later
// How many connections wait to be accepted is the sum over the cores.

@full@
expression listener;
@@
-sk_acceptq_is_full(listener)
+mosbench_acceptq_is_full(listener)

@length@
expression listener;
@@
-listener->sk_ack_backlog
+mosbench_acceptq_length(listener)
