/* SPDX-License-Identifier: Apache-2.0 */
/*
 * syscallfile.h - parses /proc/PID/task/TID/syscall: the user registers of a sleeping thread that the kernel shows.
 *
 * The file has one line (fs/proc/base.c): "running" for a thread that is on a CPU or waits for one; "-1 SP PC" for one
 * that sleeps outside of a system call, as in a page fault; else "NUMBER ARG1 ... ARG6 SP PC". Pure.
 */
#ifndef PJ_SYSCALLFILE_H
#define PJ_SYSCALLFILE_H

#include "common/str.h"

/* Sets *sp and *ip to the stack pointer and the address of the next instruction in user code. Returns false for a
 * thread that does not sleep, for 32-bit code, for a thread of the kernel, and for other text. */
bool syscallfile_parse(struct str text, uint64_t *sp, uint64_t *ip);

#endif
