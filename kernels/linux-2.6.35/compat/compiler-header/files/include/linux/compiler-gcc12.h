/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the kernel asks of its compiler, for gcc 12: the attributes that it knows since gcc 4.5 at the latest.
 */
#ifndef __LINUX_COMPILER_H
#error "include <linux/compiler.h>, which includes this file"
#endif

#define __used __attribute__((__used__))
#define __must_check __attribute__((warn_unused_result))
#define __always_inline inline __attribute__((always_inline))
#define __cold __attribute__((__cold__))
#define __noclone __attribute__((__noclone__))
#define __compiler_offsetof(type, member) __builtin_offsetof(type, member)
#define __compiletime_object_size(object) __builtin_object_size(object, 0)
#define __compiletime_warning(message) __attribute__((warning(message)))
#define __compiletime_error(message) __attribute__((error(message)))
#define uninitialized_var(x) x = x
#define unreachable() __builtin_unreachable()
