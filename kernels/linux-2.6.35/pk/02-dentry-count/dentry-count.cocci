// SPDX-License-Identifier: GPL-2.0-or-later
// Sloppy reference counts of dentries.

// include/linux/dcache.h
@get@
identifier entry;
@@
  dget(struct dentry *entry)
  {
  <...
- BUG_ON(!atomic_read(&entry->d_count));
- atomic_inc(&entry->d_count);
+ mosbench_dentry_get(entry);
  ...>
  }

// A dentry that is not hashed has no spares.
@unhash@
identifier entry;
@@
  __d_drop(struct dentry *entry)
  {
  <...
  hlist_del_rcu(&entry->d_hash);
+ mosbench_dentry_cool(entry);
  ...>
  }

// fs/dcache.c
@look_up@
identifier parent, name;
expression entry;
@@
  __d_lookup(struct dentry *parent, struct qstr *name)
  {
  <...
- atomic_inc(&entry->d_count);
+ mosbench_dentry_get_locked(entry);
  ...>
  }

@put@
identifier entry;
@@
  dput(struct dentry *entry)
  {
  <...
+ if (mosbench_dentry_put(entry))
+ 	return;
  if (atomic_read(&entry->d_count) == 1)
  	might_sleep();
  ...>
  }

@made@
expression entry;
@@
  atomic_set(&entry->d_count, 1);
+ mosbench_dentry_made(entry);

@gone@
identifier entry;
@@
  __d_free(struct dentry *entry)
  {
  <...
+ mosbench_dentry_gone(entry);
  kmem_cache_free(..., entry);
  ...>
  }

@start@
@@
  dcache_init(void)
  {
  ...
+ mosbench_dentry_init();
  register_shrinker(...);
  ...
  }

// Who decides something because nobody else uses a dentry, under its lock.
@only_user@
identifier fn =~ "^(d_invalidate|d_delete|d_prune_aliases|dentry_unhash)$";
expression entry;
@@
  fn(...)
  {
  <...
- atomic_read(&entry->d_count)
+ mosbench_dentry_count(entry)
  ...>
  }

// The same without its lock.
@busy@
expression entry, others;
@@
- atomic_read(&entry->d_count) > others
+ mosbench_dentry_count_unlocked(entry) > others

// Who looks for dentries to free.
@unused_children@
identifier fn = select_parent;
expression entry;
@@
  fn(...)
  {
  <...
+ mosbench_dentry_cool_unlocked(entry);
  if (!atomic_read(&entry->d_count)) { ... }
  ...>
  }

@shrink@
identifier fn = prune_dcache;
expression unused, count;
statement S;
@@
  fn(...)
  {
  ...
+ mosbench_dentry_retire(dentry_lru_add);
  if (unused == 0 || count == 0) S
  ...
  }

// The root of a file system is not hashed, so __d_drop() does not cool it.
@root@
identifier fn = shrink_dcache_for_umount_subtree;
identifier entry;
@@
  fn(struct dentry *entry)
  {
  ...
  __d_drop(entry);
+ mosbench_dentry_cool(entry);
  ...
  }
