/* SPDX-License-Identifier: Apache-2.0 */
/*
 * processor.h - describes a processor for the unwinder, in one table. Other modules have no processor's numbers.
 *
 * Each register that unwinding needs has a slot. Slots have the DWARF numbers of x86-64. The register numbers of DWARF
 * and perf on another processor are translated to slots when tables and samples are read. Any host can therefore unwind
 * samples of any supported processor. AArch64: DWARF for the Arm 64-bit Architecture (AADWARF64), asm/perf_regs.h of
 * arm64.
 */
#ifndef PJ_PROCESSOR_H
#define PJ_PROCESSOR_H

#include "common/str.h"

/* Slots. CFI_RA is the return address column of x86-64, or the link register of a processor that has one. */
enum { CFI_RBX = 3, CFI_RBP = 6, CFI_RSP = 7, CFI_RA = 16, CFI_NREGS = 17 };

/* A processor. All values are constant. */
struct processor {
	/* Slots by DWARF number; CFI_NREGS: not needed for unwinding, as vector registers and flags. */
	uint8_t of_dwarf[32];
	/* Slots by perf register number. */
	uint8_t of_perf[40];
	/* perf_event_attr.sample_regs_user: a bit for each of these registers. */
	uint64_t perf;
	/* perf number of the instruction pointer */
	uint8_t perf_ip;
	/* e_machine of its ELF files */
	uint16_t elf;
	/* Bit i: slot i is callee-saved. */
	uint32_t saved;
	/* True if a call stores the return address in a register (link register) and not on the stack. */
	bool link;
	/* Mask of the bits of a code address. The other bits may be an authentication code. */
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
