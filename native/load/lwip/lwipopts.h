/* SPDX-License-Identifier: BSD-3-Clause
 *
 * lwIP as the client machines use it: TCP over IPv4 and nothing else, in one thread, on the engine's clock. Ethernet, ARP and
 * echo replies are native/load/network.cc's.
 */
#ifndef MOSBENCH_LWIPOPTS_H
#define MOSBENCH_LWIPOPTS_H

#define NO_SYS 1
#define SYS_LIGHTWEIGHT_PROT 0
#define LWIP_NETCONN 0
#define LWIP_SOCKET 0
#define LWIP_TIMERS 0 /* tcp_stack.cc calls tcp_tmr() */
#define LWIP_STATS 0
#define LWIP_NETIF_API 0

#define LWIP_ARP 0
#define LWIP_ETHERNET 0
#define LWIP_ICMP 0
#define LWIP_UDP 0
#define LWIP_RAW 0
#define LWIP_DHCP 0
#define IP_REASSEMBLY 0
#define IP_FRAG 0

/* No pools: as many connections as the order asks for. */
#define MEM_LIBC_MALLOC 1
#define MEMP_MEM_MALLOC 1
#define MEM_ALIGNMENT 8

/* What a Linux client would offer: time stamps, window scale, selective acknowledgement. */
#define LWIP_TCP_TIMESTAMPS 1
#define LWIP_WND_SCALE 1
#define LWIP_TCP_SACK_OUT 1
#define TCP_MSS 1460
#define TCP_RCV_SCALE 3
#define TCP_WND (256 * 1024)
#define TCP_SND_BUF (64 * 1024)
#define TCP_SND_QUEUELEN 512
#define SO_REUSE 1

/* All randomness from the order. */
#define LWIP_RAND() mosbench_lwip_random()
#define LWIP_HOOK_TCP_ISN(local, local_port, remote, remote_port) mosbench_lwip_random()

#endif
