/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _LINUX_MOSBENCH_DMA_NODE_H
#define _LINUX_MOSBENCH_DMA_NODE_H

#ifdef CONFIG_MOSBENCH_DMA_NODE
#include <linux/cpumask.h>
#include <linux/gfp.h>
#include <linux/topology.h>

/* Node for memory that the core asking for it will use. */
static inline int mosbench_dma_node(int of_device)
{
	return numa_node_id();
}

/* For a first attempt: on that node, or not at all. */
static inline gfp_t mosbench_dma_only_there(gfp_t mask)
{
	return mask | GFP_THISNODE;
}

/* The first attempt has failed. */
static inline int mosbench_dma_not_there(const void *memory)
{
	return unlikely(!memory);
}

/* Node of the core that serves queue `queue`: the online cores in turn. */
static inline int mosbench_queue_node(int of_device, unsigned int queue)
{
	unsigned int turn = queue % num_online_cpus();
	int cpu;

	for_each_online_cpu(cpu)
		if (turn-- == 0)
			return cpu_to_node(cpu);
	return of_device;
}
#else
#define mosbench_dma_node(of_device) (of_device)
#define mosbench_dma_only_there(mask) (mask)
#define mosbench_dma_not_there(memory) 0
#define mosbench_queue_node(of_device, queue) (of_device)
#endif

#endif
