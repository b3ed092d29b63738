/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwindelf.h - reads the data of an ELF file that unwinding needs: call frame information, PLT, segments.
 *
 * The headers are read once (elfhead.h). All sections together are limited to UNWIND_TABLE_MAX bytes, so that false
 * sizes cannot cost more. All data is copied to memory, so the file may change afterwards. Files are hostile.
 */
#ifndef PJ_UNWINDELF_H
#define PJ_UNWINDELF_H

#include "common/arena.h"
#include "unwind/dwarf/cfi.h"
#include "unwind/dwarf/cfiunwind.h"

/* A section of code without FDEs: a PLT (lld makes no FDEs for it), or .init or .fini, which the linker assembles from
 * parts of crti.o, crtn.o and other files. */
struct unwind_plt {
	/* start address and size in bytes of the section */
	uint64_t start, size;
	/* nonzero for a PLT with lazy binding: its first entry calls the dynamic linker; on x86-64 all others push the
	 * number of their relocation. Not a bool, because a hostile image may hold another value. */
	uint8_t lazy;
	/* for .init and .fini: offset of the code after `sub rsp, 8`; 0 for a PLT */
	uint8_t pushed;
};

/* A PT_LOAD segment of the file. */
struct unwind_load {
	/* offset: file offset; size: size in the file in bytes; address: ELF virtual address */
	uint64_t offset, size, address;
	/* nonzero if the segment is executable */
	uint8_t code;
};

enum { UNWIND_PLTS_MAX = 6 };

/* All data of one ELF file that unwinding needs. Strings and arrays are in `arena`. */
struct unwind_elf {
	/* processor of the code */
	const struct processor *processor;
	/* sections .eh_frame, .debug_frame and .eh_frame_hdr; empty if missing; for a Go program, gopclntab.h makes
	 * .debug_frame */
	struct cfi eh_frame, debug_frame, header;
	/* addresses of the executable segments, [base, end); base > end if there are none */
	uint64_t base, end;
	/* nplts sections of code without FDEs */
	struct unwind_plt plt[UNWIND_PLTS_MAX];
	unsigned nplts;
	struct unwind_load *load;
	size_t nloads;
	/* true if Go's compiler made the code, which keeps frame pointers in all functions with a frame, and no
	 * .debug_frame could be made from .gopclntab (gopclntab.h) */
	bool go;
	/* true if debug_frame was made by gopclntab.h, so its FDEs are those of Go functions only */
	bool go_frames;
	/* address of the program's first instruction (e_entry); 0 if there is none */
	uint64_t entry;
	/* true if a section was left out because of UNWIND_TABLE_MAX */
	bool large;
	/* owner of all memory of this struct */
	struct arena arena;
};

/* Reads an ELF file into *elf. Returns NULL on success, or the reason why the file cannot be read (static text). fd
 * remains the caller's. The caller calls unwind_elf_free in any case. */
const char *unwind_elf_read(struct unwind_elf *elf, int fd);
void unwind_elf_free(struct unwind_elf *elf);

#endif
