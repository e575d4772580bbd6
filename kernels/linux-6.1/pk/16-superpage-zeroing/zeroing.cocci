// SPDX-License-Identifier: GPL-2.0-or-later
// The small pages of a super-page are zeroed past the caches. Pages of other sizes do not come here.

@clear_part@
identifier address, index, argument;
expression page, at;
@@
clear_subpage(unsigned long address, int index, void *argument)
{
	<+...
-	clear_user_highpage(page, at);
+	mosbench_clear_user_highpage(page, at);
	...+>
}

@clear_gigantic@
identifier page, address, pages;
expression one, at;
@@
clear_gigantic_page(struct page *page, unsigned long address, unsigned int pages)
{
	<+...
-	clear_user_highpage(one, at);
+	mosbench_clear_user_highpage(one, at);
	...+>
}

@header depends on clear_part@
@@
#include <linux/highmem.h>
+#include <linux/mosbench_superpage_zeroing.h>
