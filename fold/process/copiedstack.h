/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copiedstack.h - the user stack of a sample that has registers and a stack copy (--call-graph dwarf).
 *
 * This module walks the stack copy (unwind/walk.h) with the unwind tables of the mapped files; it opens each file once.
 * It unwinds code of a JVM with the code blobs in the JVM's timeline. The stacks of a packed recording are in the
 * recording, so they are read from there.
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

/* A struct of zeros has no tables and no stack. The owner sets the members up to `packed`. */
struct copiedstack {
	/* Folder with copies of the recorded machine's files (--symfs), or NULL. */
	const char *symfs;
	/* pjrecord's symbol store, or NULL. */
	const struct symstore *symstore;
	/* True: walk as perf script does: at most 127 frames, and no second walk with assumed leafs (walk.retry_leaf).
	 */
	bool as_perf;
	/* Timelines of JVMs, or NULL. */
	struct timelines *timelines;
	/* True if samples have times of CLOCK_MONOTONIC, the clock of the timelines. */
	bool monotonic;
	/* symbolized: the section of a packed recording that has names and stacks; NULL if the recording is not packed.
	 * packed: pjpack's writer, which stores the stacks; NULL in other tools. */
	struct symbolized *symbolized;
	struct symbolizedwriter *packed;

	/* Build-ids that the recording lists by path; filled at the first lookup. */
	struct buildids buildids;
	struct copiedstack_table *table; /* unwind tables by index of the DSO; `cap` elements */
	size_t cap;
	size_t bytes; /* size in bytes of the tables loaded for copiedstack_keeps_pointer */
	/* Result of the last walk: frames of the stack, and the reason why the walk ended. */
	struct walk walk;
	/* Number of stacks so far whose caller is beyond the end of the stack copy. */
	uint64_t cut;
};

/* Walks the user stack of record, a sample of `thread` with user registers, and puts the result into stack->walk. In a
 * packed recording, unless as_perf is set, takes the next stack of the recording instead. Passes the stack to
 * stack->packed, if that is not NULL. The result has no frames if no unwinder supports the registers (32-bit code,
 * unknown processor). `origin` decides if files of this machine are used; `data` is the recording, with its processor
 * and build-ids. */
void copiedstack_walk(struct copiedstack *stack, const struct addrspace *addrspace,
		      const struct addrspace_thread *thread, const struct perfdata_record *record,
		      const struct provenance *origin, const struct perfdata *data);

/* Returns true if the frame pointer is surely set up at file offset `offset` of a DSO: the CFI row of this address
 * shows it, or the address has no row and the code is V8's. The kernel's callchain then contains the caller of the
 * frame. Returns false in all other cases, also if the file is not found, or if it is not loaded because the tables of
 * other files exceed a limit. */
bool copiedstack_keeps_pointer(struct copiedstack *stack, const struct addrspace *addrspace, uint32_t dso,
			       uint64_t offset, const struct provenance *origin, const struct perfdata *data);

/* Counts in *errors the unwind tables of jitdumps that were not used because they exceed a limit (jitunwind.h). */
void copiedstack_errors(const struct copiedstack *stack, const struct addrspace *addrspace,
			struct input_errors *errors);
/* Skips the stack of a sample that is not folded. The caller passes each sample with a stack copy to this function or
 * to copiedstack_walk, in order of time, because a packed recording has the stacks in this order. */
void copiedstack_skip(struct copiedstack *stack);

/* Closes the unwind tables and frees the memory of *stack. */
void copiedstack_free(struct copiedstack *stack);

#endif
