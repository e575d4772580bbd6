// SPDX-License-Identifier: GPL-2.0-or-later
// Per-core lists of open files: every place that puts a file on a super block's list, takes it off, or walks the list.

// fs/open.c: a newly opened file goes on its super block's list.
@open_adds@
expression file, inode;
@@
- file_move(file, &inode->i_sb->s_files);
+ mosbench_file_list_add(file, inode->i_sb);

// fs/file_table.c: moving to another list (a terminal's) leaves the per-core list first.
@move_leaves@
identifier file, list;
@@
  file_move(struct file *file, struct list_head *list)
  {
  <...
+ mosbench_file_unlist(file);
  file_list_lock();
  ...>
  }

@close_leaves@
identifier file;
statement S;
@@
  file_kill(struct file *file)
  {
+ if (mosbench_file_unlist(file))
+ 	return;
  S
  ...
  }

// Who walks a super block's list needs every core's.
@walker@
identifier fn, sb, file;
iterator name list_for_each_entry;
statement S;
@@
  fn(struct super_block *sb)
  {
  <+...
  list_for_each_entry(file, &sb->s_files, f_u.fu_list) S
  ...+>
  }

@walk_lock@
identifier walker.fn, sb;
@@
  fn(struct super_block *sb)
  {
  <...
- file_list_lock();
+ mosbench_file_lists_lock();
  ...>
  }

@walk_unlock@
identifier walker.fn, sb;
@@
  fn(struct super_block *sb)
  {
  <...
- file_list_unlock();
+ mosbench_file_lists_unlock();
  ...>
  }

@walk_files@
expression sb;
identifier file;
iterator name list_for_each_entry;
iterator name mosbench_for_each_open_file;
statement S;
@@
- list_for_each_entry(file, &sb->s_files, f_u.fu_list)
+ mosbench_for_each_open_file(file, sb)
  S

@start@
expression counter;
@@
  files_init(...)
  {
  ...
+ mosbench_file_lists_init();
  percpu_counter_init(&counter, 0);
  }

// fs/super.c: the lists live as long as the super block.
@new_super_block@
expression sb;
@@
  INIT_LIST_HEAD(&sb->s_files);
+ mosbench_sb_files_alloc(sb);

@old_super_block@
identifier sb;
@@
  destroy_super(struct super_block *sb)
  {
  ...
+ mosbench_sb_files_free(sb);
  kfree(sb);
  }
