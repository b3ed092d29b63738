/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copiedstack.h - the user stack of a sample that has registers and a stack copy (--call-graph dwarf).
 *
 * This module walks the stack copy (unwind/walk.h) with the unwind tables of the mapped files, each of which it opens
 * once. Code of a JVM is unwound with the code blobs that the JVM's timeline recorded.
 *
 *	copiedstack_walk(&stack, addrspace, thread, record, origin, data);
 *	for (size_t i = 0; i < stack.walk.n; i++)
 *		use(&stack.walk.frame[i]);
 */
#ifndef PJ_COPIEDSTACK_H
#define PJ_COPIEDSTACK_H

#include "fold/symbolized/symbolizedwriter.h"
#include "fold/symbols/provenance.h"
#include "fold/process/addrspace.h"
#include "fold/perfdata/buildids.h"
#include "fold/jit/timelines.h"
#include "unwind/walk.h"

/* All zero has no tables and no stack; the owner sets the members up to `monotonic`. */
struct copiedstack {
	/* Folder with copies of the recorded machine's files (--symfs), or NULL. */
	const char *symfs;
	/* pjrecord's symbol store, or NULL. */
	const struct symstore *symstore;
	/* Walk as perf script does: at most 127 frames, and no second walk with assumed leafs (walk.retry_leaf). */
	bool as_perf;
	/* Timelines of JVMs, or NULL. */
	struct timelines *timelines;
	/* True if samples have times of CLOCK_MONOTONIC, the clock of the timelines. */
	bool monotonic;
	/* The names of a packed recording, which has the stacks, too; NULL: not packed. The writer of pjpack, which
	 * gets the stacks; NULL: none. */
	struct symbolized *symbolized;
	struct symbolizedwriter *packed;

	/* Build-ids that the recording lists by path. */
	struct buildids buildids;
	struct copiedstack_table *table; /* unwind tables by index of the DSO; `cap` elements */
	size_t cap;
	size_t bytes; /* of the tables that were loaded for copiedstack_keeps_pointer */
	/* Result of the last walk: its frames, and the reason why it ended. */
	struct walk walk;
	/* Number of stacks so far that were truncated at the end of their copy. */
	uint64_t cut;
};

/* Walks the user stack of record, a sample of `thread` with user registers, and puts the result into stack->walk. The
 * result has no frames if no unwinder supports the registers (32-bit code, unknown processor). origin decides if files
 * of this machine are used; data has the processor and the build-ids. */
void copiedstack_walk(struct copiedstack *stack, const struct addrspace *addrspace,
		      const struct addrspace_thread *thread, const struct perfdata_record *record,
		      const struct provenance *origin, const struct perfdata *data);

/* Returns true if code at a file offset of a DSO is known to keep a frame pointer: by the rule of its unwind table for
 * this address, or because it is V8's. So the kernel's callchain has the caller of a frame there. False if the file is
 * not found, or if the tables of all files exceed a limit. */
bool copiedstack_keeps_pointer(struct copiedstack *stack, const struct addrspace *addrspace, uint32_t dso,
			       uint64_t offset, const struct provenance *origin, const struct perfdata *data);

/* Adds the unwind tables of jitdumps that were not used because they exceed a limit (jitunwind.h) to *errors. */
void copiedstack_errors(const struct copiedstack *stack, const struct addrspace *addrspace,
			struct input_errors *errors);
/* Passes over a sample with a stack copy that is not folded. Each such sample is passed to this function or to
 * copiedstack_walk, in order of time, because a packed recording has their stacks in this order. */
void copiedstack_skip(struct copiedstack *stack);

/* Closes the unwind tables and frees the memory of *stack. */
void copiedstack_free(struct copiedstack *stack);

#endif
