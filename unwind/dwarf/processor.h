/* SPDX-License-Identifier: Apache-2.0 */
/*
 * processor.h - tables of the processors that the unwinder supports. Other modules have no register numbers of their
 * own, except trampolines.c and gopclntab.c, which make tables for x86-64.
 *
 * Each register that unwinding needs has a slot. Slots are numbered like the DWARF registers of x86-64. The register
 * numbers that DWARF and perf use for another processor are translated to slots when tables and samples are read. So
 * any host can unwind samples of any supported processor. Sources for AArch64: DWARF for the Arm 64-bit Architecture
 * (AADWARF64), asm/perf_regs.h of arm64.
 */
#ifndef PJ_PROCESSOR_H
#define PJ_PROCESSOR_H

#include "common/str.h"

/* Slots of special registers; CFI_NREGS: number of slots. CFI_RA: the return address column of x86-64, or the link
 * register of a processor that has one. */
enum { CFI_RBX = 3, CFI_RBP = 6, CFI_RSP = 7, CFI_RA = 16, CFI_NREGS = 17 };

/* Table of one processor; constant. */
struct processor {
	/* slot of each DWARF register number; CFI_NREGS for registers that unwinding does not need (vector registers,
	 * flags) */
	uint8_t of_dwarf[32];
	/* slot of each perf register number; CFI_NREGS for registers that unwinding does not need */
	uint8_t of_perf[40];
	/* mask of perf register numbers to sample (perf_event_attr.sample_regs_user) */
	uint64_t perf;
	/* subset of `perf`: registers that a system call does not change, and that all kernels report in a sample
	 * during it */
	uint64_t perf_entry;
	/* perf register number of the instruction pointer */
	uint8_t perf_ip;
	/* e_machine of ELF files for this processor */
	uint16_t elf;
	/* mask of the callee-saved registers; bit i is slot i */
	uint32_t saved;
	/* true if a call stores the return address in a link register, false if on the stack */
	bool link;
	/* mask of the bits of a code address; the other bits may be an authentication code */
	uint64_t code;
};

extern const struct processor processor_x86_64, processor_aarch64;

/* Returns the processor with an e_machine value, or NULL if it is not supported. */
const struct processor *processor_of_elf(uint16_t machine);
/* Returns the processor with a machine name of uname(2), or NULL if it is not supported. */
const struct processor *processor_of_machine(struct str name);
/* Returns the processor for which this program is compiled, or NULL if it is not supported. */
const struct processor *processor_here(void);

/* Returns the slot of a DWARF register number, or CFI_NREGS if unwinding does not need that register. */
static inline unsigned processor_slot(const struct processor *processor, uint64_t dwarf)
{
	return dwarf < countof(processor->of_dwarf) ? processor->of_dwarf[dwarf] : CFI_NREGS;
}

#endif
