// SPDX-License-Identifier: GPL-2.0-or-later
// Sloppy reference counts of mounts.

// include/linux/mount.h
@get@
identifier mnt;
@@
  mntget(struct vfsmount *mnt)
  {
  <...
- atomic_inc(&mnt->mnt_count);
+ mosbench_mnt_get(mnt);
  ...>
  }

@unmark@
identifier mnt;
@@
  mntput(struct vfsmount *mnt)
  {
  <...
- mnt->mnt_expiry_mark = 0;
+ mosbench_mnt_unmark(mnt);
  ...>
  }

// fs/namespace.c
@put@
expression mnt;
@@
- atomic_dec_and_lock(&mnt->mnt_count, &vfsmount_lock)
+ !mosbench_mnt_put(mnt) && atomic_dec_and_lock(&mnt->mnt_count, &vfsmount_lock)

@made@
expression mnt;
@@
  atomic_set(&mnt->mnt_count, 1);
+ mosbench_mnt_spares_alloc(mnt);

@gone@
expression mnt;
@@
+ mosbench_mnt_spares_free(mnt);
  kmem_cache_free(mnt_cache, mnt);

@leaves@
expression mnt;
@@
  mnt->mnt_ns = NULL;
+ mosbench_mnt_freeze(mnt);

@joins@
struct vfsmount *mnt;
struct mnt_namespace *ns;
@@
  mnt->mnt_ns = ns;
+ mosbench_mnt_thaw(mnt);

// Where references are counted: under vfsmount_lock, but for the first look of an expiring umount.
@count_lock@
identifier mnt;
@@
  do_umount(struct vfsmount *mnt, ...)
  {
  <...
- atomic_read(&mnt->mnt_count)
+ mosbench_mnt_count_lock(mnt)
  ...>
  }

@count@
expression mnt;
@@
- atomic_read(&mnt->mnt_count)
+ mosbench_mnt_count(mnt)

// Mounts of the kernel's own that are never unmounted.
@own@
@@
(
  sock_mnt = kern_mount(...);
+ mosbench_mnt_thaw(sock_mnt);
|
  pipe_mnt = kern_mount(...);
+ mosbench_mnt_thaw(pipe_mnt);
|
  anon_inode_mnt = kern_mount(...);
+ mosbench_mnt_thaw(anon_inode_mnt);
|
  shm_mnt = kern_mount(...);
+ mosbench_mnt_thaw(shm_mnt);
|
  shm_mnt = vfs_kern_mount(...);
+ mosbench_mnt_thaw(shm_mnt);
)
