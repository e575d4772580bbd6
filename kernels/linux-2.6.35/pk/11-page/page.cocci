// SPDX-License-Identifier: GPL-2.0-or-later
// Counts of a page apart from its flags.

// Which wait queue a page has: addresses of records of 128 bytes would meet in a quarter of the queues.
@queue@
expression page, bits;
@@
  page_waitqueue(...)
  {
  <...
- hash_ptr(page, bits)
+ mosbench_page_hash(page, bits)
  ...>
  }
