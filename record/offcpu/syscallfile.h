/* SPDX-License-Identifier: Apache-2.0 */
/*
 * syscallfile.h - parses /proc/PID/task/TID/syscall, in which the kernel shows user registers of a sleeping thread.
 *
 * The file has one line (fs/proc/base.c): "running" for a thread that is on a CPU or waits for one; "-1 SP PC" for a
 * thread that sleeps outside of a system call, such as in a page fault; else "NUMBER ARG1 ... ARG6 SP PC". Pure: no
 * input or output.
 */
#ifndef PJ_SYSCALLFILE_H
#define PJ_SYSCALLFILE_H

#include "common/str.h"

/* Sets *sp to the stack pointer and *ip to the address of the next instruction in user code. Returns false for a thread
 * that does not sleep, for 32-bit code, for a kernel thread, and for malformed text; then *sp and *ip are undefined. */
bool syscallfile_parse(struct str text, uint64_t *sp, uint64_t *ip);

#endif
