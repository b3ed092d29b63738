/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk.h - the user stack of a sample that was recorded with registers and a copy of its stack (--call-graph dwarf).
 *
 * Finds the files whose tables say how to get from a frame to its caller, each once, and walks.
 */
#ifndef PJ_WALK_H
#define PJ_WALK_H

#include "origin.h"
#include "addrspace.h"
#include "buildids.h"

struct walk {
	const char *symfs;
	const struct attic *attic;  /* of pjrecord, or NULL */
	bool as_perf;
	struct buildids buildids;
	struct walk_table *table; /* by DSO */
	size_t cap;
	uint64_t *ip;             /* of the walked stack, leaf first; callers' are those of the call */
	size_t n, ips_cap;
	bool short_copy;          /* of the walked stack: it ends outside of what was copied */
	uint64_t cut;             /* stacks of that kind */
};

/* Walks the stack of r, a sample with registers; ip[0..n) is what was found. */
void walk_stack(struct walk *w, const struct addrspace *a, const struct addrspace_thread *t,
		const struct perfdata_record *r, const struct origin *origin, const struct perfdata *data);

void walk_free(struct walk *w);

#endif
