/* SPDX-License-Identifier: Apache-2.0 */
/* base.h - the few macros that everything may use. No functions, no types of its own. */
#ifndef PJ_BASE_H
#define PJ_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PJ_VERSION "0.1"

#define countof(a) (sizeof(a) / sizeof(*(a)))

#define PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define NORETURN __attribute__((noreturn))

/* Only where a profile showed that it pays. */
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#endif
