/* SPDX-License-Identifier: Apache-2.0 */
/* base.h - macros that all code may use. It has no functions and no types. */
#ifndef PJ_BASE_H
#define PJ_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PJ_VERSION "0.1"

#define countof(a) (sizeof(a) / sizeof(*(a)))

#define PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define NORETURN __attribute__((noreturn))

/* PJ_ASAN is defined under AddressSanitizer; gcc and clang have different names for it. */
#if defined(__SANITIZE_ADDRESS__)
#define PJ_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PJ_ASAN 1
#endif
#endif

/* Branch hints; used only where a profile showed that the hint makes the code faster. */
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#endif
