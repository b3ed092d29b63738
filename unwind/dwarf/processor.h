/* SPDX-License-Identifier: Apache-2.0 */
/*
 * processor.h - describes a processor for the unwinder, in one table. Other modules contain no numbers of a specific
 * processor.
 *
 * Each register that unwinding needs has a slot. Slots have the DWARF numbers of x86-64. The register numbers of DWARF
 * and perf on another processor are translated to slots when tables and samples are read. Any host can therefore unwind
 * samples of any supported processor. AArch64: DWARF for the Arm 64-bit Architecture (AADWARF64), asm/perf_regs.h of
 * arm64.
 */
#ifndef PJ_PROCESSOR_H
#define PJ_PROCESSOR_H

#include "common/str.h"

/* Slots of special registers, and the number of slots. CFI_RA is the return address column of x86-64, or the link
 * register of a processor that has one. */
enum { CFI_RBX = 3, CFI_RBP = 6, CFI_RSP = 7, CFI_RA = 16, CFI_NREGS = 17 };

/* Description of a processor; constant. */
struct processor {
	/* slot of each DWARF register number; CFI_NREGS if unwinding does not need the register, as vector registers
	 * and flags */
	uint8_t of_dwarf[32];
	/* slot of each perf register number; CFI_NREGS if unwinding does not need the register */
	uint8_t of_perf[40];
	/* registers to sample, as mask of perf numbers (perf_event_attr.sample_regs_user) */
	uint64_t perf;
	/* of these, the registers that a system call does not change and that all kernels report for it */
	uint64_t perf_entry;
	/* perf's number of the instruction pointer */
	uint8_t perf_ip;
	/* e_machine of ELF files for this processor */
	uint16_t elf;
	/* mask of the callee-saved registers: bit i for slot i */
	uint32_t saved;
	/* true if a call stores the return address in a register (link register) and not on the stack */
	bool link;
	/* mask of the bits that form a code address; the other bits may be an authentication code */
	uint64_t code;
};

extern const struct processor processor_x86_64, processor_aarch64;

/* Returns the processor for an e_machine value, or NULL if it is not supported. */
const struct processor *processor_of_elf(uint16_t machine);
/* Returns the processor for a machine name of uname(2), or NULL if it is not supported. */
const struct processor *processor_of_machine(struct str name);
/* Returns the processor that this program is compiled for, or NULL if it is not supported. */
const struct processor *processor_here(void);

/* Returns the slot of a DWARF register number, or CFI_NREGS if unwinding does not need that register. */
static inline unsigned processor_slot(const struct processor *processor, uint64_t dwarf)
{
	return dwarf < countof(processor->of_dwarf) ? processor->of_dwarf[dwarf] : CFI_NREGS;
}

#endif
