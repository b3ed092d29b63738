/* SPDX-License-Identifier: Apache-2.0 */
/* syscalls.h - system call numbers that the C library of Debian bullseye (2020) does not define. They are the same on
 * all processors. */
#ifndef PJ_SYSCALLS_H
#define PJ_SYSCALLS_H

#include <sys/syscall.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef SYS_openat2
#define SYS_openat2 437
#endif

#endif
