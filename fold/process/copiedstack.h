/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copiedstack.h - the user stack of a sample that has registers and a stack copy (--call-graph dwarf).
 *
 * Opens each mapped file once, for its unwind tables, and walks the copy (unwind/walk.h). Code of a JVM is unwound with
 * the code blobs that its timeline recorded.
 *
 *	copiedstack_walk(&stack, addrspace, thread, record, origin, data);
 *	for (size_t i = 0; i < stack.walk.n; i++)
 *		use(&stack.walk.frame[i]);
 */
#ifndef PJ_COPIEDSTACK_H
#define PJ_COPIEDSTACK_H

#include "fold/symbols/provenance.h"
#include "fold/process/addrspace.h"
#include "fold/perfdata/buildids.h"
#include "fold/jit/timelines.h"
#include "unwind/walk.h"

/* All zero is empty; the owner sets the first members. */
struct copiedstack {
	const char *symfs;
	/* pjrecord's symbol store, or NULL. */
	const struct symstore *symstore;
	/* Walk as perf script does: at most 127 frames, and no retry of stacks that end in assembly. */
	bool as_perf;
	/* Timelines of JVMs, or NULL. */
	struct timelines *timelines;
	/* Times of samples are on the clock of the timelines. */
	bool monotonic;

	struct buildids buildids;
	struct copiedstack_table *table; /* by DSO */
	size_t cap;
	/* The last walk: frames, and the reason of its end. */
	struct walk walk;
	/* Stacks so far that go on above their copy. */
	uint64_t cut;
};

/* Walks the stack of record, a sample with registers of `thread`. The result is stack->walk; it has no frames if the
 * registers cannot be unwound (32-bit code, another processor). */
void copiedstack_walk(struct copiedstack *stack, const struct addrspace *addrspace,
		      const struct addrspace_thread *thread, const struct perfdata_record *record,
		      const struct provenance *origin, const struct perfdata *data);

/* Frees what *stack owns. */
void copiedstack_free(struct copiedstack *stack);

#endif
