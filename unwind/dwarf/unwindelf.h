/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwindelf.h - reads the parts of an ELF file that unwinding needs: call frame information, PLT, segments.
 *
 * The headers are read once (elfhead.h). All sections together are limited to UNWIND_TABLE_MAX bytes, so a file with
 * false sizes costs no more. All data is copied to memory: the file may change afterwards. Files are hostile.
 */
#ifndef PJ_UNWINDELF_H
#define PJ_UNWINDELF_H

#include "common/arena.h"
#include "unwind/dwarf/cfi.h"
#include "unwind/dwarf/cfiunwind.h"

/* A section of code without FDEs: a PLT, as of the lld linker, or .init or .fini, which the linker assembles from parts
 * of crti.o, crtn.o and other files. */
struct unwind_plt {
	/* start address and size of the section */
	uint64_t start, size;
	/* Nonzero for a PLT with lazy binding: its first entry calls the dynamic linker; on x86-64 the others push the
	 * number of their relocation. Not a bool, because a hostile image may hold another value. */
	uint8_t lazy;
	/* for .init and .fini: offset of the code after `sub rsp, 8`; 0 for a PLT */
	uint8_t pushed;
};

/* A PT_LOAD segment of the file. */
struct unwind_load {
	/* file offset, size in the file, ELF virtual address */
	uint64_t offset, size, address;
	/* nonzero if the segment is executable */
	uint8_t code;
};

enum { UNWIND_PLTS_MAX = 6 };

/* All that unwinding needs from one ELF file. Strings and arrays are in the arena. */
struct unwind_elf {
	const struct processor *processor;
	/* Sections .eh_frame, .debug_frame and .eh_frame_hdr; empty if missing. .debug_frame of a Go program is the one
	 * that gopclntab.h makes. */
	struct cfi eh_frame, debug_frame, header;
	/* start and end address of the executable segments; base > end if there are none */
	uint64_t base, end;
	/* the sections of code without FDEs */
	struct unwind_plt plt[UNWIND_PLTS_MAX];
	unsigned nplts;
	struct unwind_load *load;
	size_t nloads;
	/* The file has code of Go's compiler, which keeps frame pointers in all functions with a frame, and
	 * no .debug_frame could be made of its table (gopclntab.h). */
	bool go;
	/* .debug_frame is the one that gopclntab.h makes, so its FDEs are those of Go functions only. */
	bool go_frames;
	/* Address of the first instruction (e_entry); 0: none. */
	uint64_t entry;
	/* Sections were left out because they exceed UNWIND_TABLE_MAX. */
	bool large;
	/* owns all memory of this struct */
	struct arena arena;
};

/* Reads an ELF file into *elf. Returns NULL, or a static text with the reason why the file cannot be read. fd remains
 * the caller's. The caller calls unwind_elf_free in both cases. */
const char *unwind_elf_read(struct unwind_elf *elf, int fd);
void unwind_elf_free(struct unwind_elf *elf);

#endif
