// SPDX-License-Identifier: GPL-2.0-or-later
// The small pages of a super-page are zeroed past the caches. Pages of other sizes do not come here.

@clear_huge@
identifier first, address, bytes;
expression one, at;
@@
clear_huge_page(struct page *first, unsigned long address, unsigned long bytes)
{
	<+...
-	clear_user_highpage(one, at);
+	mosbench_clear_part(one, at);
	...+>
}

@clear_gigantic@
identifier first, address, bytes;
expression one, at;
@@
clear_gigantic_page(struct page *first, unsigned long address, unsigned long bytes)
{
	<+...
-	clear_user_highpage(one, at);
+	mosbench_clear_part(one, at);
	...+>
}

@header depends on clear_huge@
@@
#include <linux/hugetlb.h>
+#include <linux/mosbench_superpage_zeroing.h>
