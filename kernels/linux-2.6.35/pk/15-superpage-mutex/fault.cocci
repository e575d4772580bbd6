// SPDX-License-Identifier: GPL-2.0-or-later
// The mutex that hugetlb_fault() holds is chosen by the mapping.

@fault_lock@
identifier vma, mm, address, flags, one_for_all;
@@
hugetlb_fault(struct mm_struct *mm, struct vm_area_struct *vma, unsigned long address, unsigned int flags)
{
	<...
-	mutex_lock(&one_for_all);
+	mutex_lock(mosbench_superpage_mutex(vma, &one_for_all));
	...>
}

@fault_unlock@
identifier fault_lock.vma, mm, address, flags, fault_lock.one_for_all;
@@
hugetlb_fault(struct mm_struct *mm, struct vm_area_struct *vma, unsigned long address, unsigned int flags)
{
	<...
-	mutex_unlock(&one_for_all);
+	mutex_unlock(mosbench_superpage_mutex(vma, &one_for_all));
	...>
}

@header depends on fault_lock@
@@
#include <linux/hugetlb.h>
+#include <linux/mosbench_superpage_mutex.h>
