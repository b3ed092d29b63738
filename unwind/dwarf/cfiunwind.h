/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfiunwind.h - computes callers from registers and a stack copy, by call frame information.
 *
 * The FDEs of .eh_frame, and of .debug_frame for functions that .eh_frame lacks, become rows (cfi.h) when a lookup
 * needs them first; a step is then one lookup. Rules that do not fit a short row (signal frames, PLT, realigned stacks)
 * are evaluated at each step. Code without tables is unwound by frame pointers. Supports x86-64 and aarch64 on any
 * host: the ELF file determines the processor. DWARF 5 section 6.4, System V ABI AMD64 section 3.
 *
 * unwind_start(&state, mask, regs, abi, stack);
 * do { note(state.ip); code = find(state.ip); }
 * while ((end = unwind_step(&state, code, first)) == UNWIND_MORE);
 */
#ifndef PJ_CFIUNWIND_H
#define PJ_CFIUNWIND_H

#include "unwind/dwarf/processor.h"
#include "common/str.h"

struct unwind_table; /* The unwind tables of one ELF file. All its mappings and several threads may share it; lookups
			are thread-safe. */

/* Limit for the call frame information of one file, and for its image, in bytes. Browsers have less. */
#define UNWIND_TABLE_MAX ((uint64_t)24 << 20)

/* Reads the unwind tables of a binary, a library, or a separate debug file. Takes ownership of fd and closes it; the
 * file may change afterwards. Returns NULL and *why (a static text) if the file has no usable tables; *why is
 * unwind_table_too_large if it has more than UNWIND_TABLE_MAX bytes of them. */
extern const char unwind_table_too_large[];
struct unwind_table *unwind_table_open(int fd, const char **why);
/* Like unwind_table_open, for an .eh_frame section in memory, at address. The memory remains the caller's and must
 * exist until unwind_table_close. */
struct unwind_table *unwind_table_memory(struct str eh_frame, uint64_t address, const char **why);
/* Computes unwind_code.bias for a mapping of this file at address start and file offset offset. Returns false if no
 * segment has that offset. With a separate debug file, the caller uses the table of the mapped file if there is one:
 * segments may have other offsets in the debug file. */
bool unwind_table_bias(const struct unwind_table *table, uint64_t start, uint64_t offset, uint64_t *bias);
/* Frees a table; NULL is allowed. No thread may use it any more. */
void unwind_table_close(struct unwind_table *table);
/* Writes a table to fd as an image for another process. A hostile ELF file may crash its reader, so a helper process
 * reads it. Returns false and sets errno if the image cannot be written. */
bool unwind_table_save(const struct unwind_table *table, int fd);
/* Maps an image. Takes ownership of fd, which must be a file in memory that cannot shrink (sealed). Image bytes are
 * hostile. Returns NULL and *why (a static text) if it is no valid image. */
struct unwind_table *unwind_table_load(int fd, const char **why);
/* Returns true if both tables were loaded from images with the same bytes, so that all lookups give equal results. */
bool unwind_table_is_same(const struct unwind_table *table, const struct unwind_table *b);
/* Returns the bytes of memory that the table uses now. Rows are added by lookups. */
size_t unwind_table_bytes(const struct unwind_table *table);
/* Returns true if the table has reached its limit of rows, so that lookups fail. The caller then closes it and loads
 * it again, which is cheap. */
bool unwind_table_is_full(const struct unwind_table *table);

/* Registers of one frame. unwind_start fills it; unwind_step moves it to the caller. */
struct unwind_state {
	uint64_t ip, sp, bp;
	/* NULL: x86-64 */
	const struct processor *processor;
	/* by slots (processor.h); bit i of valid: reg[i] is known */
	uint64_t reg[CFI_NREGS];
	uint32_t valid;
	/* stack copy; its first byte has the address stack_start */
	struct str stack;
	uint64_t stack_start;
	/* True if ip was interrupted: the sample's ip, or that after a signal frame. Otherwise ip is a return
	 * address, and the call is at ip - 1. */
	bool interrupted;
	/* Input, set by the caller of unwind_step: see below. */
	bool assume_leaf;
	/* Output: the walk has passed code without FDE. */
	bool no_fde;
	/* Output of UNWIND_STACK_CUT: the frame pointer points to the caller's frame, by the table's rule, beyond
	 * the stack copy. */
	bool fp_valid;
	/* Output: the code that the frame at ip called, or was interrupted in, is native code, not code of a JVM
	 * (javaunwind.h). */
	bool native;
	/* Internal: number of signal frames passed. */
	uint8_t turns;
	/* Internal: operations of expressions that may still be executed for this stack. */
	uint32_t effort;
};

/* Fills state from the registers of a sample: regs has the registers of mask's bits, lowest bit first, in perf's
 * numbering; abi is PERF_SAMPLE_REGS_ABI_*. stack is the stack copy, which must exist as long as state. Returns
 * false if unwinding is impossible: 32-bit code, no ip or no sp. */
bool unwind_start_on(const struct processor *processor, struct unwind_state *state, uint64_t mask, const uint64_t *regs,
		     uint64_t abi, struct str stack);
/* Like unwind_start_on for x86-64. */
bool unwind_start(struct unwind_state *state, uint64_t mask, const uint64_t *regs, uint64_t abi, struct str stack);

/* Unwind table of the code at an address. bias is the difference between that address and the ELF virtual address in
 * the table (or the address of the memory). */
struct unwind_code {
	/* NULL: no table; frame pointers are tried. */
	const struct unwind_table *table;
	uint64_t bias;
};

/* Result of a step. */
enum unwind_end {
	/* state is the caller's */
	UNWIND_MORE,
	/* the frame was the outermost one */
	UNWIND_ROOT,
	/* the caller's frame is beyond the stack copy */
	UNWIND_STACK_CUT,
	/* the code has no table and no usable frame pointer */
	UNWIND_NO_CODE,
	/* the caller's stack is not above this one's: corrupt stack or wrong tables */
	UNWIND_LOOP,
};

/* Hand-written assembly often has no FDE, beside code with FDEs. Interrupted there, it usually has pushed nothing,
 * so the return address is at sp (examples: the system call of clone3, loops of libgmp). With state->assume_leaf,
 * the unwinder takes the return address at sp there. Callers set it only for a retry after frame pointers led to no
 * root, and use the result only if the stack then is complete by tables alone. */

/* Moves state to the caller and returns UNWIND_MORE, or returns the reason why there is no caller; the registers
 * then remain those of the frame. leaf: state is unchanged since unwind_start (state->interrupted is true then,
 * too). A loop of steps ends for any stack. */
enum unwind_end unwind_step(struct unwind_state *state, struct unwind_code code, bool leaf);

#endif
