/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sloppy accounting of protocol memory. With the option off every name here is the code that was there before. */
#ifndef _NET_MOSBENCH_MEMORY_H
#define _NET_MOSBENCH_MEMORY_H

struct proto;

#ifdef CONFIG_MOSBENCH_PROTOCOL_MEMORY

extern void mosbench_memory_register(struct proto *prot);
extern void mosbench_memory_unregister(struct proto *prot);
/* Account pages of memory. Returns what is to be compared with the limits. */
extern int mosbench_memory_take(struct proto *prot, int pages);
extern void mosbench_memory_give(struct proto *prot, int pages);
/* Pages in use of the protocol whose shared count is *central, for statistics. */
#define mosbench_memory_in_use(prot, central) mosbench_memory_used(prot)
extern int mosbench_memory_used(struct proto *prot);

#else

#define mosbench_memory_register(prot) do { } while (0)
#define mosbench_memory_unregister(prot) do { } while (0)
#define mosbench_memory_take(prot, pages) atomic_add_return(pages, (prot)->memory_allocated)
#define mosbench_memory_give(prot, pages) atomic_sub(pages, (prot)->memory_allocated)
#define mosbench_memory_in_use(prot, central) atomic_read(central)

#endif
#endif
