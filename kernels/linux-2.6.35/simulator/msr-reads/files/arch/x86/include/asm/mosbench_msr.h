/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Accesses to model-specific registers that a simulator need not have: a missing one reads as 0 and is not written. */
#ifndef ASM_X86_MOSBENCH_MSR_H
#define ASM_X86_MOSBENCH_MSR_H

#include <asm/msr.h>

#define mosbench_rdmsrl(msr, value)                                                                                                \
	do {                                                                                                                       \
		unsigned long long mosbench_read;                                                                                  \
		(value) = rdmsrl_safe(msr, &mosbench_read) ? 0 : mosbench_read;                                                    \
	} while (0)

#define mosbench_wrmsrl(msr, value) ((void)checking_wrmsrl(msr, value))

#endif
