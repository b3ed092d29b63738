/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copiedstack.h - the user stack of a sample that was recorded with registers and a copy of its stack (--call-graph
 * dwarf).
 *
 * Finds the files whose tables say how to get from a frame to its caller, each once, and walks; through the code of a
 * JVM, by what its timeline tells of frames.
 */
#ifndef PJ_COPIEDSTACK_H
#define PJ_COPIEDSTACK_H

#include "fold/symbols/provenance.h"
#include "fold/process/addrspace.h"
#include "fold/perfdata/buildids.h"
#include "fold/jit/timelines.h"

struct copiedstack {
	const char *symfs;
	const struct symstore *symstore; /* of pjrecord, or NULL */
	bool as_perf;
	struct timelines *timelines; /* of JVMs, or NULL */
	bool monotonic;              /* times are those of timelines */
	struct buildids buildids;
	struct walk_table *table; /* by DSO */
	size_t cap;
	struct copiedstack_frame {
		uint64_t ip; /* callers' are those of the call */
		bool method; /* it is the address of an interpreted method */
	} * frame;           /* of the walked stack, leaf first */
	size_t n, cap_frames;
	bool short_copy; /* of the walked stack: it ends outside of what was copied */
	uint64_t cut;    /* stacks of that kind */
};

/* Walks the stack of record, a sample with registers; frame[0..n) is what was found. */
void walk_stack(struct copiedstack *walk, const struct addrspace *addrspace, const struct addrspace_thread *thread,
		const struct perfdata_record *record, const struct provenance *origin, const struct perfdata *data);

void walk_free(struct copiedstack *walk);

#endif
