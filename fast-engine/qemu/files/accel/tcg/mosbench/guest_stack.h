/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the model needs to find out who called: registers of a core, and the guest's memory as that core sees it.
 */
#ifndef MOSBENCH_GUEST_STACK_H
#define MOSBENCH_GUEST_STACK_H

#include "mosbench/model_abi.h"

extern const struct model_guest mosbench_guest;

#endif
