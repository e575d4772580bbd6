// SPDX-License-Identifier: GPL-2.0-or-later
// Per-core caches of the mount table.

// Looking up a mount asks the core's own cache before the table, and remembers what the table said.
@lookup_cached@
identifier path, child;
@@
  lookup_mnt(struct path *path)
  {
  struct vfsmount *child;
+ child = mosbench_mnt_cache_find(path);
+ if (child)
+ 	return child;
  ...
  }

@lookup_remembers@
identifier path, child;
@@
  lookup_mnt(struct path *path)
  {
  <...
- mntget(child);
+ {
+ 	mntget(child);
+ 	mosbench_mnt_cache_add(path, child);
+ }
  ...>
  }

// Who changes the table or asks whether a mount is busy holds every core's lock.
@writer@
identifier fn;
@@
  fn(...)
  {
  <+...
(
  umount_tree(...)
|
  attach_mnt(...)
|
  detach_mnt(...)
|
  commit_tree(...)
|
  propagate_mount_busy(...)
)
  ...+>
  }

@writer_lock@
identifier writer.fn;
@@
  fn(...)
  {
  <...
- spin_lock(&vfsmount_lock);
+ mosbench_mnt_table_lock();
  ...>
  }

@writer_unlock@
identifier writer.fn;
@@
  fn(...)
  {
  <...
- spin_unlock(&vfsmount_lock);
+ mosbench_mnt_table_unlock();
  ...>
  }

@start@
@@
  mnt_init(...)
  {
  ...
  init_rwsem(&namespace_sem);
+ mosbench_mnt_cache_init();
  ...
  }
