// SPDX-License-Identifier: GPL-2.0-or-later
// Sloppy accounting of protocol memory.

// net/core/sock.c
@take@
struct proto *prot;
expression pages;
@@
- atomic_add_return(pages, prot->memory_allocated)
+ mosbench_memory_take(prot, pages)

@give@
struct proto *prot;
expression pages;
@@
- atomic_sub(pages, prot->memory_allocated)
+ mosbench_memory_give(prot, pages)

@show@
identifier prot;
@@
  proto_seq_printf(..., struct proto *prot)
  {
  <...
- atomic_read(prot->memory_allocated)
+ mosbench_memory_in_use(prot, prot->memory_allocated)
  ...>
  }

@new_protocol@
identifier prot;
@@
  proto_register(struct proto *prot, ...)
  {
  <...
+ mosbench_memory_register(prot);
  write_lock(&proto_list_lock);
  ...>
  }

@old_protocol@
identifier prot;
@@
  proto_unregister(struct proto *prot)
  {
  <...
  write_unlock(&proto_list_lock);
+ mosbench_memory_unregister(prot);
  ...>
  }

// net/ipv4/proc.c
@show_tcp@
@@
- atomic_read(&tcp_memory_allocated)
+ mosbench_memory_in_use(&tcp_prot, &tcp_memory_allocated)

@show_udp@
@@
- atomic_read(&udp_memory_allocated)
+ mosbench_memory_in_use(&udp_prot, &udp_memory_allocated)
