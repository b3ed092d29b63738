/* SPDX-License-Identifier: Apache-2.0 */
/*
 * userregs.h - compares the user registers of a thread at two moments, to find if it ran in between. Pure.
 *
 * A sample of a precise event in user mode has the instruction pointer of an earlier instruction. A thread that is
 * sampled in a system call may leave the CPU at its end, with the result in a register. A sample in kernel mode, from
 * an NMI, lacks the callee-saved registers on x86-64; kernels before 5.11 lack them in kernel mode always, so when a
 * thread leaves, too. Then only the registers that a system call keeps are compared.
 */
#ifndef PJ_USERREGS_H
#define PJ_USERREGS_H

#include "unwind/dwarf/processor.h"

/* Hashes; 0: unknown. */
struct userregs {
	uint64_t all;   /* of all registers but the instruction pointer; 0 if some are missing */
	uint64_t kept;  /* of all registers but that of a system call's result; 0 if some are missing */
	uint64_t entry; /* of those that a system call keeps and no kernel lacks */
};

/* value: the registers that processor->perf selects, in order of their numbers; n: their number. */
struct userregs userregs_of(const struct processor *processor, const uint64_t *value, size_t n);

/* Returns true if a thread has the same registers at a sample and when it left the CPU. in_kernel: the sample is one in
 * kernel mode. */
bool userregs_same(const struct userregs *sample, const struct userregs *left, bool in_kernel);

#endif
