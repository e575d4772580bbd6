/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _ASM_X86_MOSBENCH_FPU_H
#define _ASM_X86_MOSBENCH_FPU_H

#include <linux/types.h>

/* fpu=always on the kernel's command line. */
extern bool mosbench_fpu_always;

/* The current task may use the FPU's registers from now on without a trap, if it is one of a program. They are its own. */
extern void mosbench_fpu_in_use(void);

#endif
