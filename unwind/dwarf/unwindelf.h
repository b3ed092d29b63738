/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwindelf.h - the parts of an ELF file that unwinding needs: call frame information, PLT, segments.
 *
 * The headers are read once (elfhead.h). Sections are read only within UNWIND_TABLE_MAX bytes for all of them together,
 * so a file that claims more costs nothing. All that is needed is in memory afterwards: the file may change.
 */
#ifndef PJ_UNWINDELF_H
#define PJ_UNWINDELF_H

#include "common/arena.h"
#include "unwind/dwarf/cfi.h"
#include "unwind/dwarf/cfiunwind.h"

/* A section of code that has no FDE: jumps, as of lld's linker; .init and .fini, which crti.o, crtn.o and others make
 * up together. */
struct unwind_plt {
	uint64_t start, size;
	uint8_t lazy;   /* entries push their number; a byte, since images are not trusted to hold a bool */
	uint8_t pushed; /* .init, .fini: offset after `sub rsp, 8`; 0: jumps */
};

/* A segment of the file (PT_LOAD). */
struct unwind_load {
	uint64_t offset, size, address;
	uint8_t code;
};

enum { UNWIND_PLTS_MAX = 6 };

struct unwind_elf {
	const struct processor *processor;
	struct cfi eh_frame, debug_frame, header; /* header: .eh_frame_hdr */
	uint64_t base, end;                       /* addresses of code; base > end: there is none */
	struct unwind_plt plt[UNWIND_PLTS_MAX];
	unsigned nplts;
	struct unwind_load *load;
	size_t nloads;
	bool large;         /* sections were left out, as they exceed UNWIND_TABLE_MAX */
	struct arena arena; /* holds all of this */
};

/* Returns NULL, or why nothing could be read, a static text. fd stays the caller's. To be freed in any case. */
const char *unwind_elf_read(struct unwind_elf *elf, int fd);
void unwind_elf_free(struct unwind_elf *elf);

#endif
