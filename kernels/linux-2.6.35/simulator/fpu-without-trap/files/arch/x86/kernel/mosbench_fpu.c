/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel leaves the registers of the FPU, and with them those of SSE, to the task before until another one uses them: CR0.TS
 * makes that a trap. On a machine that has no such trap (gem5) a task would compute with what another one has left there. With
 * fpu=always each task of a program has its registers from its start on, and each switch saves and restores them.
 */
#include <asm/i387.h>
#include <asm/mosbench_fpu.h>
#include <linux/init.h>
#include <linux/sched.h>
#include <linux/string.h>

bool mosbench_fpu_always __read_mostly;

static int __init fpu_setup(char *text)
{
	mosbench_fpu_always = !strcmp(text, "always");
	return 1;
}
__setup("fpu=", fpu_setup);

void mosbench_fpu_in_use(void)
{
	if (!mosbench_fpu_always || !current->mm || (current_thread_info()->status & TS_USEDFPU))
		return;
	if (!used_math() && init_fpu(current))
		do_group_exit(SIGKILL); /* as the trap does without memory */
	preempt_disable();
	clts();
	__math_state_restore();
	preempt_enable();
}
