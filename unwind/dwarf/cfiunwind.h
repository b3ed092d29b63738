/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfiunwind.h - callers from registers and a copy of the stack, by call frame information.
 *
 * .eh_frame, and .debug_frame for what it lacks, become rows {addresses, how to find the CFA, which registers were
 * saved where} when an address is met first; then a step is one look-up. Rules that are no such row (signal frames,
 * PLT, realigned stacks) are evaluated when met. Code without tables is walked by frame pointers. Of x86-64 and
 * aarch64, on any host: the file says which. DWARF 5 section 6.4, System V ABI AMD64 section 3.
 */
#ifndef PJ_CFIUNWIND_H
#define PJ_CFIUNWIND_H

#include "unwind/dwarf/processor.h"
#include "common/str.h"

struct unwind_table; /* of one ELF file; shared by all its mappings, and by threads */

/* Bytes of call frame information that are read of one file, and of its image: more than browsers have. */
#define UNWIND_TABLE_MAX ((uint64_t)24 << 20)

/* Takes fd over: a binary, a library, or its separate debug file. What is needed is read now; the file may change
 * afterwards. Returns NULL and *why (a static text) if it has no usable tables; *why is unwind_table_too_large if it
 * has more than UNWIND_TABLE_MAX bytes of them. */
extern const char unwind_table_too_large[];
struct unwind_table *unwind_table_open(int fd, const char **why);
/* The same from memory that the caller keeps: a .eh_frame section at address. */
struct unwind_table *unwind_table_memory(struct str eh_frame, uint64_t address, const char **why);
/* What unwind_code.bias is for a mapping of this file: start is where, offset is of what. False when no segment is
 * there. For a separate debug file ask the table of the file that was mapped, if there is one: segments may lie
 * elsewhere in it. */
bool unwind_table_bias(const struct unwind_table *table, uint64_t start, uint64_t offset, uint64_t *bias);
void unwind_table_close(struct unwind_table *table);
/* What is needed of a table, as an image that another process takes: who opens files of others may be ended by them.
 * False and errno: it could not be written. */
bool unwind_table_save(const struct unwind_table *table, int fd);
/* Takes fd over, an image in memory that cannot shrink any more: it is mapped. NULL and *why when it is none. */
struct unwind_table *unwind_table_load(int fd, const char **why);
/* True if both were loaded from images of the same bytes: the answers of one are those of the other. */
bool unwind_table_is_same(const struct unwind_table *table, const struct unwind_table *b);
size_t unwind_table_bytes(const struct unwind_table *table); /* of memory, now: rows come as they are met */
/* True if rows were refused since the table has too many: to be dropped and made anew, which is cheap. */
bool unwind_table_is_full(const struct unwind_table *table);

struct unwind_state {
	uint64_t ip, sp, bp;
	const struct processor *processor; /* NULL: x86-64 */
	uint64_t reg[CFI_NREGS];           /* by slots; valid says which are known */
	uint32_t valid;
	struct str stack; /* copy; its first byte is at stack_start */
	uint64_t stack_start;
	bool interrupted; /* ip is where code was interrupted: the sample's, or behind a signal frame. Else it is a
			   * return address, and what called is at ip - 1. */
	bool assume_leaf; /* the caller's: see below */
	bool no_fde;      /* ours: such code was met */
	bool fp_valid; /* ours: the caller is where the copy does not reach, and the frame pointer points there, as the
			table says */
	bool native;   /* ours: what the code at ip called, or was interrupted in, is no code of a JVM (javaunwind.h) */
	uint8_t turns; /* ours: signal frames passed */
	uint32_t effort; /* ours: operations of expressions that may still be done */
};

/* From a sample's registers as perf records them: those of mask's bits, lowest bit first; abi as in the sample. False
 * when nothing can be unwound from them: 32-bit code, no instruction or no stack pointer. */
bool unwind_start_on(const struct processor *processor, struct unwind_state *state, uint64_t mask, const uint64_t *regs,
		     uint64_t abi, struct str stack);
/* Of x86-64. */
bool unwind_start(struct unwind_state *state, uint64_t mask, const uint64_t *regs, uint64_t abi, struct str stack);

/* Where code of the process is: table and what to subtract from an address to get the ELF virtual address of the table
 * (or of the memory). */
struct unwind_code {
	const struct unwind_table *table; /* NULL: none, frame pointers are tried */
	uint64_t bias;
};

enum unwind_end {
	UNWIND_MORE,
	UNWIND_ROOT,      /* this was the outermost frame */
	UNWIND_STACK_CUT, /* the caller is where the copy of the stack does not reach */
	UNWIND_NO_CODE,   /* no table knows this code, and it keeps no frame pointer */
	UNWIND_LOOP,      /* the caller's stack is not above this one's: damaged, or not what the tables say */
};

/* Assembly has often no tables, beside code that has: what was interrupted there mostly pushed nothing, so the return
 * address is at sp (the system call of clone3 is such code, and loops of libgmp). That is supposed when s->leafless is
 * set: by who saw that frame pointers lead to no root, and believes it only if the stack turns out to be whole, by
 * tables alone. */

/* One step outwards: changes state to the caller's, or says why there is none and leaves state. leaf: state is as
 * unwind_start left it (state->interrupted says so, too). The steps of a stack end, whatever it holds. */
enum unwind_end unwind_step(struct unwind_state *state, struct unwind_code code, bool leaf);

#endif
