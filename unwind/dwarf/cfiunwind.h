/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfiunwind.h - the unwinder for native code: computes the caller's registers from a frame's registers and a stack
 * copy, by call frame information.
 *
 * The FDEs of .eh_frame, and those of .debug_frame for functions that .eh_frame lacks, become rows (cfi.h) at the first
 * lookup that needs them. Later steps only look up a row. Rules that do not fit a short row (signal frames, PLT,
 * realigned stacks) are evaluated at each step. Code without tables is unwound by frame pointers. Supports x86-64 and
 * aarch64 on any host: the ELF file determines the processor. Sources: DWARF 5 section 6.4, System V ABI AMD64 section
 * 3.
 *
 * unwind_start(&state, mask, regs, abi, stack);
 * do { note(state.ip); code = find(state.ip); }
 * while ((end = unwind_step(&state, code, first)) == UNWIND_MORE);
 */
#ifndef PJ_CFIUNWIND_H
#define PJ_CFIUNWIND_H

#include "unwind/dwarf/processor.h"
#include "common/str.h"

/* The unwind tables of one ELF file. Several threads, and all mappings of the file, may share them; lookups are
 * thread-safe. */
struct unwind_table;

/* limit in bytes for the call frame information of one file, and for the image of a table; browsers have less. A file
 * with more gets no table. */
#define UNWIND_TABLE_MAX ((uint64_t)24 << 20)

/* value of *why if the call frame information of a file exceeds UNWIND_TABLE_MAX */
extern const char unwind_table_too_large[];
/* Reads the unwind tables of a program, a library or a separate debug file. Takes ownership of fd and closes it; the
 * file may change afterwards. Returns NULL and sets *why (static text) if the file has no usable tables. *why is
 * unwind_table_too_large if the tables exceed UNWIND_TABLE_MAX. */
struct unwind_table *unwind_table_open(int fd, const char **why);
/* Makes a table from an x86-64 .eh_frame in memory, which remains the caller's and must exist until unwind_table_close.
 * address: address of the section. Returns NULL and sets *why (static text) if the section has no FDE. */
struct unwind_table *unwind_table_memory(struct str eh_frame, uint64_t address, const char **why);
/* Sets *bias (unwind_code.bias) for a mapping of the file at address `start` and file offset `offset`. Returns false if
 * no segment contains that offset. The caller prefers the table of the mapped file to the table of its debug file,
 * whose segments may have other offsets. */
bool unwind_table_bias(const struct unwind_table *table, uint64_t start, uint64_t offset, uint64_t *bias);
/* Frees a table; NULL is allowed. No other thread may use the table at that time. */
void unwind_table_close(struct unwind_table *table);
/* Writes a table to the start of fd as an image, which another process can load: a hostile ELF file may crash its
 * reader, so a helper process reads the file. Returns false and sets errno on failure. */
bool unwind_table_save(const struct unwind_table *table, int fd);
/* Maps an image and makes a table from it. Takes ownership of fd, which must be a file in memory that cannot shrink
 * (sealed). Image bytes are hostile. Returns NULL and sets *why (static text) if the image is invalid. */
struct unwind_table *unwind_table_load(int fd, const char **why);
/* Returns true if both tables are loaded from images with the same bytes, so that all their lookups give the same
 * results. */
bool unwind_table_is_same(const struct unwind_table *table, const struct unwind_table *b);
/* Returns a hash of the image of a table, equal for equal images; 0 for a table without image. */
uint64_t unwind_table_hash(const struct unwind_table *table);
/* Returns true if all functions of the file that call others keep frame pointers, except those with FDEs: Go's compiler
 * makes such code. Such a file has a table even without any FDE. */
bool unwind_table_keeps_frame_pointers(const struct unwind_table *table);
/* Returns the number of bytes of memory that the table uses now; lookups add rows. */
size_t unwind_table_bytes(const struct unwind_table *table);
/* Returns true if a row was refused because the table has reached its memory limit, so that lookups may fail. The
 * caller then closes the table and loads its image again, which is cheap. */
bool unwind_table_is_full(const struct unwind_table *table);

/* Registers of one frame, and the stack copy. unwind_start fills it from a sample. unwind_step replaces the registers
 * by those of the caller. */
struct unwind_state {
	uint64_t ip, sp, bp;
	/* processor of the code; NULL means x86-64 */
	const struct processor *processor;
	/* reg: values of the registers by slot (processor.h); valid: mask of the known ones, bit i for reg[i] */
	uint64_t reg[CFI_NREGS];
	uint32_t valid;
	/* stack copy; its first byte is at address stack_start */
	struct str stack;
	uint64_t stack_start;
	/* true if ip is an interrupted address: the one of the sample, or the one that a signal frame restores. False
	 * if ip is a return address, so that the call is at ip - 1. */
	bool interrupted;
	/* input: true to treat interrupted code without FDE as a leaf (unwind_step) */
	bool assume_leaf;
	/* output: true if the walk has passed interrupted code without FDE */
	bool no_fde;
	/* output: true if a frame pointer led out of code that is not known to keep one
	 * (unwind_table_keeps_frame_pointers): the stack may lack callers, and a root is not proven */
	bool unproven;
	/* output, valid after UNWIND_STACK_CUT: true if by the table's rule the frame pointer points to the caller's
	 * frame, which is outside of the stack copy */
	bool fp_valid;
	/* output: true if the last step left native code, false if it left code of a JVM (javaunwind.h): the frame at
	 * ip called the code that was left, or a signal interrupted it */
	bool native;
	/* internal: number of signal frames that the walk has passed */
	uint8_t turns;
	/* internal: number of DWARF operations that may still be executed for this stack */
	uint32_t effort;
};

/* Fills *state from the registers of a sample. regs has one value per bit of `mask`, lowest bit first; bit i is perf
 * register i. abi is PERF_SAMPLE_REGS_ABI_*. stack is the stack copy, which must exist as long as *state. Returns false
 * if unwinding is impossible: 32-bit code, no ip or no sp. */
bool unwind_start_on(const struct processor *processor, struct unwind_state *state, uint64_t mask, const uint64_t *regs,
		     uint64_t abi, struct str stack);
/* Same as unwind_start_on with the processor x86-64. */
bool unwind_start(struct unwind_state *state, uint64_t mask, const uint64_t *regs, uint64_t abi, struct str stack);

/* The code at an address: its unwind table, and where the file is mapped. */
struct unwind_code {
	/* table of the file; NULL if there is none, so that frame pointers are tried */
	const struct unwind_table *table;
	/* runtime address minus ELF virtual address; for unwind_table_memory, minus the section's addresses */
	uint64_t bias;
};

/* Result of unwind_step, or of a walk: why it ended. */
enum unwind_end {
	/* the state has moved to the caller */
	UNWIND_MORE,
	/* the frame is the outermost one: the stack is complete */
	UNWIND_ROOT,
	/* result of walks only: as UNWIND_ROOT, but unwind_state.unproven is true, and no code of V8 explains that
	 * (walk.h): the completeness of the stack is unknown */
	UNWIND_UNKNOWN,
	/* the caller's frame is outside of the stack copy: the stack is truncated */
	UNWIND_STACK_CUT,
	/* the code has no table and no usable frame pointer, or a rule needs an unknown value: the stack is broken */
	UNWIND_NO_CODE,
	/* the caller's sp is not above the frame's sp, because the stack is corrupt or a table is wrong: the stack is
	 * broken */
	UNWIND_LOOP,
	/* result of walks only: the code has changed to another stack (unwind_table_changes_stack), on which its caller
	 * is: the stack is broken */
	UNWIND_OTHER_STACK,
	/* set by pjrecord: nothing of the stack was copied, because the process was in exec or exit: the stack is
	 * broken */
	UNWIND_NO_STACK,
};

/* Hand-written assembly often has no FDE, in a file that otherwise has FDEs. Where it is interrupted, it has usually
 * pushed nothing (examples: the system call of clone3, loops of libgmp). If state->assume_leaf is true, the unwinder
 * takes the return address at sp there. Callers set it only for a second walk, if the first one did not reach the root,
 * and use the second walk only if it reaches the root by tables alone. */

/* Moves *state to the caller and returns UNWIND_MORE. Otherwise returns the reason why there is no caller, and
 * preserves the registers. leaf: true in the first step after unwind_start, so that ip is an interrupted address. A
 * loop of steps ends for any stack. */
enum unwind_end unwind_step(struct unwind_state *state, struct unwind_code code, bool leaf);

#endif
