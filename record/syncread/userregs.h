/* SPDX-License-Identifier: Apache-2.0 */
/*
 * userregs.h - compares the user registers of a thread at two times, to detect if the thread ran in between. Pure: no
 * system calls.
 *
 * Not all registers can be compared:
 *  - The instruction pointer: a sample of a precise event in user mode may have the address of an earlier instruction.
 *  - The register of a system call's result: a thread that is sampled in a system call may leave the CPU at the end of
 *    that call.
 *  - The callee-saved registers on x86-64: a sample from an NMI in kernel mode lacks them. Kernels before 5.11 lack
 *    them in all samples in kernel mode, and so at each context switch. In these cases, only registers that a system
 *    call preserves and that each kernel records are compared.
 */
#ifndef PJ_USERREGS_H
#define PJ_USERREGS_H

#include "unwind/dwarf/processor.h"

/* Hashes of the user registers of a thread at one time; 0: unknown. */
struct userregs {
	uint64_t all; /* all registers except the instruction pointer; 0 if some registers are missing */
	/* all registers except the register of a system call's result; 0 if some registers are missing */
	uint64_t preserved;
	uint64_t entry; /* registers that a system call preserves and each kernel records */
};

/* Hashes n registers: those that processor->perf selects, in order of perf's register numbers. Returns zeros if n is
 * smaller than the number of selected registers. */
struct userregs userregs_of(const struct processor *processor, const uint64_t *value, size_t n);

/* Returns true if the registers of a thread at a sample equal its registers at the switch at which it left the CPU;
 * false if they differ or too many are unknown. in_kernel: true: the sample was taken in kernel mode. */
bool userregs_same(const struct userregs *sample, const struct userregs *left, bool in_kernel);

#endif
