/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * <asm/delay.h> refuses a constant udelay of more than 20 ms by calling a function that does not exist. gcc 12 copies a function for
 * a constant argument and finds out only later that the branch with the udelay is for smaller ones.
 */
#include <linux/bug.h>
#include <linux/delay.h>

void __bad_udelay(void)
{
	BUG();
}
