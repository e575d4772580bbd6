// SPDX-License-Identifier: GPL-2.0-or-later
// Sloppy reference counts of routes.

// include/net/dst.h
@hold@
struct dst_entry *dst;
@@
- atomic_inc(&dst->__refcnt);
+ mosbench_dst_hold(dst);

@used@
struct dst_entry *dst;
expression time;
@@
- dst->__use++;
- dst->lastuse = time;
+ mosbench_dst_used(dst, time);

@close@
identifier dst;
@@
  dst_free(struct dst_entry *dst)
  {
  <...
- atomic_read(&dst->__refcnt)
+ mosbench_dst_close(dst)
  ...>
  }

// net/core/dst.c
@put@
struct dst_entry *dst;
@@
- atomic_dec_return(&dst->__refcnt)
+ mosbench_dst_put(dst)

@child@
struct dst_entry *dst;
@@
- atomic_dec_and_test(&dst->__refcnt)
+ mosbench_dst_dec_and_test(dst)

@gone@
expression dst;
@@
+ mosbench_dst_detach(dst);
  kmem_cache_free(dst->ops->kmem_cachep, dst);

@start@
@@
  dst_init(void)
  {
+ mosbench_dst_init();
  ...
  }

// Garbage collection and statistics want the number of references in use.
@count@
struct dst_entry *dst;
@@
(
- atomic_read(&dst->__refcnt)
+ mosbench_dst_count(dst)
|
- atomic_read(&(dst->__refcnt))
+ mosbench_dst_count(dst)
)

@count_route@
expression route;
@@
- atomic_read(&route->u.dst.__refcnt)
+ mosbench_dst_count(&route->u.dst)

@uses@
struct dst_entry *dst;
expression E;
@@
(
  dst->__use = E
|
- dst->__use
+ mosbench_dst_uses(dst)
)

@uses_route@
expression route, E;
@@
(
  route->u.dst.__use = E
|
  route->u.dst.__use++
|
- route->u.dst.__use
+ mosbench_dst_uses(&route->u.dst)
)

@used_route@
expression route, time;
@@
- route->u.dst.lastuse = time;
- route->u.dst.__use++;
+ mosbench_dst_used(&route->u.dst, time);

// A route made as a copy of another has not got its slots.
@copied@
struct rtable *rt;
struct rtable *from;
@@
  *rt = *from;
+ mosbench_dst_forget(&rt->u.dst);
