/* SPDX-License-Identifier: Apache-2.0 */
/*
 * processor.h - what unwinding must know of a processor, as a table: nothing else has its numbers.
 *
 * Registers that find callers have a slot each, with the numbers that DWARF gives those of x86-64; what DWARF and perf
 * call them on another processor is translated when tables and samples are read. So any host unwinds what any other
 * recorded. AArch64: DWARF for the Arm 64-bit Architecture (AADWARF64), asm/perf_regs.h of arm64.
 */
#ifndef PJ_PROCESSOR_H
#define PJ_PROCESSOR_H

#include "common/str.h"

/* Slots. RA: x86-64: the address of the code; where calls leave the return address in a register: that one. */
enum { CFI_RBX = 3, CFI_RBP = 6, CFI_RSP = 7, CFI_RA = 16, CFI_NREGS = 17 };

struct processor {
	uint8_t of_dwarf[32]; /* slots by DWARF's numbers; CFI_NREGS: finds no caller, as vectors and flags */
	uint8_t of_perf[40];  /* and by perf's */
	uint64_t perf;        /* what perf is asked for: a bit for each of those */
	uint8_t perf_ip;      /* its number of the instruction pointer */
	uint16_t elf;         /* e_machine */
	uint32_t saved;       /* slots that a callee gives back as they were */
	bool link;            /* a call leaves the return address in a register, not on the stack */
	uint64_t code;        /* bits of an address of code: others authenticate it */
};

extern const struct processor processor_x86_64, processor_aarch64;

const struct processor *processor_of_elf(uint16_t machine);    /* NULL: no other is known */
const struct processor *processor_of_machine(struct str name); /* as uname has it; NULL: no other is known */
const struct processor *processor_here(void);

static inline unsigned processor_slot(const struct processor *processor, uint64_t dwarf)
{
	return dwarf < countof(processor->of_dwarf) ? processor->of_dwarf[dwarf] : CFI_NREGS;
}

#endif
