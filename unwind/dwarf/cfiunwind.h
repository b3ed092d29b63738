/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfiunwind.h - computes callers from registers and a stack copy, by call frame information.
 *
 * The FDEs of .eh_frame, and of .debug_frame for functions that .eh_frame lacks, become rows (cfi.h) at the first
 * lookup that needs them; each later step is one lookup. Rules that do not fit a short row (signal frames, PLT,
 * realigned stacks) are evaluated at each step. Code without tables is unwound by frame pointers. Supports x86-64 and
 * aarch64 on any host: the ELF file determines the processor. DWARF 5 section 6.4, System V ABI AMD64 section 3.
 *
 * unwind_start(&state, mask, regs, abi, stack);
 * do { note(state.ip); code = find(state.ip); }
 * while ((end = unwind_step(&state, code, first)) == UNWIND_MORE);
 */
#ifndef PJ_CFIUNWIND_H
#define PJ_CFIUNWIND_H

#include "unwind/dwarf/processor.h"
#include "common/str.h"

/* The unwind tables of one ELF file. All mappings of the file and several threads may share it; lookups are
 * thread-safe. */
struct unwind_table;

/* Limit in bytes for the call frame information of one file, and for the image of a table. Browsers have less. */
#define UNWIND_TABLE_MAX ((uint64_t)24 << 20)

/* Reads the unwind tables of a binary, a library or a separate debug file. Takes ownership of fd and closes it; the
 * file may change afterwards. Returns NULL and sets *why (a static text) if the file has no usable tables; *why is
 * unwind_table_too_large if its tables have more than UNWIND_TABLE_MAX bytes. */
extern const char unwind_table_too_large[];
struct unwind_table *unwind_table_open(int fd, const char **why);
/* Like unwind_table_open, for a section .eh_frame of x86-64 in memory; `address` is the section's address. The memory
 * remains the caller's and must exist until unwind_table_close. */
struct unwind_table *unwind_table_memory(struct str eh_frame, uint64_t address, const char **why);
/* Sets *bias (unwind_code.bias) for a mapping of this file at address `start` and file offset `offset`. Returns false
 * if no segment contains that offset. If the table is of a separate debug file, the caller prefers the table of the
 * mapped file: segments may have other offsets in the debug file. */
bool unwind_table_bias(const struct unwind_table *table, uint64_t start, uint64_t offset, uint64_t *bias);
/* Frees a table; NULL is allowed. No thread may use the table any more. */
void unwind_table_close(struct unwind_table *table);
/* Writes a table to the start of fd as an image, for another process. Returns false and sets errno if that fails.
 * Reason: a hostile ELF file may crash its reader, so a helper process reads the file. */
bool unwind_table_save(const struct unwind_table *table, int fd);
/* Makes a table of an image, which it maps. Takes ownership of fd, which must be a file in memory that cannot shrink
 * (sealed). Image bytes are hostile. Returns NULL and sets *why (a static text) if it is no valid image. */
struct unwind_table *unwind_table_load(int fd, const char **why);
/* Returns true if both tables were loaded from images with the same bytes, so that all lookups give equal results. */
bool unwind_table_is_same(const struct unwind_table *table, const struct unwind_table *b);
/* Returns a hash of the image that the table was loaded from, equal for equal images; 0 without an image. */
uint64_t unwind_table_hash(const struct unwind_table *table);
/* Returns true if all functions of the file that call others keep frame pointers, but for those with FDEs: Go's
 * compiler does so. Such a file has a table even without any FDE. */
bool unwind_table_keeps_frame_pointers(const struct unwind_table *table);
/* Returns the bytes of memory that the table uses now. Rows are added by lookups. */
size_t unwind_table_bytes(const struct unwind_table *table);
/* Returns true if the table has reached its limit of rows, so that further lookups fail. The caller then closes the
 * table and loads it again, which is cheap. */
bool unwind_table_is_full(const struct unwind_table *table);

/* Registers of one frame. unwind_start fills them from a sample; unwind_step replaces them by those of the caller. */
struct unwind_state {
	uint64_t ip, sp, bp;
	/* processor of the code; NULL: x86-64 */
	const struct processor *processor;
	/* values of the registers, indexed by slot (processor.h), and the mask of the known ones: bit i for reg[i] */
	uint64_t reg[CFI_NREGS];
	uint32_t valid;
	/* the stack copy; its first byte is at address stack_start */
	struct str stack;
	uint64_t stack_start;
	/* True if ip is an interrupted address: that of the sample, or the one after a signal frame. Otherwise ip is a
	 * return address, and the call is at ip - 1. */
	bool interrupted;
	/* Input: treat interrupted code without FDE as a leaf, see unwind_step. */
	bool assume_leaf;
	/* Output: the walk has passed interrupted code without FDE. */
	bool no_fde;
	/* Output: the walk has left a frame by a frame pointer, in code that is not known to keep it
	 * (unwind_table_keeps_frame_pointers): callers may be missing, and a root is not proven. */
	bool unproven;
	/* Output of UNWIND_STACK_CUT: the frame pointer points to the caller's frame, by the table's rule, beyond
	 * the stack copy. */
	bool fp_valid;
	/* Output: the last step left native code, not code of a JVM (javaunwind.h). The frame at ip has called that
	 * code or was interrupted in it. */
	bool native;
	/* Internal: number of signal frames that the walk has passed. */
	uint8_t turns;
	/* Internal: number of operations of expressions that may still be executed for this stack. */
	uint32_t effort;
};

/* Fills state from the registers of a sample. regs has one value for each bit of mask, lowest bit first; the bit is the
 * register's number in perf. abi is PERF_SAMPLE_REGS_ABI_*. stack is the stack copy, which must exist as long as state.
 * Returns false if unwinding is impossible: 32-bit code, no ip or no sp. */
bool unwind_start_on(const struct processor *processor, struct unwind_state *state, uint64_t mask, const uint64_t *regs,
		     uint64_t abi, struct str stack);
/* Like unwind_start_on for x86-64. */
bool unwind_start(struct unwind_state *state, uint64_t mask, const uint64_t *regs, uint64_t abi, struct str stack);

/* The code at an address and its unwind table. bias is that address minus the ELF virtual address in the table (for
 * unwind_table_memory: minus the address in the section). */
struct unwind_code {
	/* table of the file; NULL: no table, so frame pointers are tried */
	const struct unwind_table *table;
	uint64_t bias;
};

/* Result of a step (unwind_step). */
enum unwind_end {
	/* state has moved to the caller */
	UNWIND_MORE,
	/* end of the stack: the frame was the outermost one */
	UNWIND_ROOT,
	/* not of unwind_step, but of a walk: the same, but unwind_state.unproven is set */
	UNWIND_UNKNOWN,
	/* the caller's frame is beyond the stack copy */
	UNWIND_STACK_CUT,
	/* end: the code has no table and no usable frame pointer, or a rule needs an unknown value */
	UNWIND_NO_CODE,
	/* end: the caller's sp is not above that of the frame, because the stack is corrupt or the tables are wrong */
	UNWIND_LOOP,
};

/* Hand-written assembly often has no FDE, in a file that otherwise has FDEs. Interrupted there, it usually has pushed
 * nothing, so the return address is at sp (examples: the system call of clone3, loops of libgmp). With
 * state->assume_leaf, the unwinder takes the return address at sp there. Callers set it only for a retry after frame
 * pointers led to no root, and use the result only if the stack then is complete by tables alone. */

/* Moves state to the caller and returns UNWIND_MORE, or returns the reason why there is no caller; the registers then
 * remain those of the frame. leaf: this is the first step after unwind_start, so ip is an interrupted address. A loop
 * of steps ends for any stack. */
enum unwind_end unwind_step(struct unwind_state *state, struct unwind_code code, bool leaf);

#endif
